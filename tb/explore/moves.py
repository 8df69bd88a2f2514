"""From one situation to all that can follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tb.explore.atlas import Atlas
from tb.explore.part import Seen, Sent, Shown, Step
from tb.explore.situation import NONE, At, Move, Pair, Situation
from tb.explore.world import ALWAYS, SmallWorld

Log = tuple[tuple[int, list[Pair]], ...]
"""Parts in the order in which something happens to them, and how their states lead on."""
Following = tuple[Move, Situation, Log]


class Moves:
    """The moves of a world. Packets have numbers here."""

    def __init__(self, world: SmallWorld, atlas: Atlas, tick: Callable[[], None]) -> None:
        """`tick` is called at every step."""
        self.world, self.atlas, self._tick = world, atlas, tick
        self.packets: list[tuple[int, Step]] = []
        """By number: the NIC that it is for, and itself."""
        self._packet_numbers: dict[tuple[int, Step], int] = {}
        self._closed: dict[tuple[int, frozenset[At]], frozenset[At]] = {}

    def begin(self) -> Situation:
        """The situation at the beginning."""
        parts = range(self.atlas.parts)
        sets = tuple(self.closure(part, frozenset([(0, self.world.early)])) for part in parts)
        return Situation(sets, ((),) * (self.atlas.parts // 2), NONE, self.world.times)

    def after(self, situation: Situation) -> Iterator[Following]:
        """Everything that can happen next."""
        for part in range(self.atlas.parts):
            yield from self._acts(situation, part)
        for source, packet in self._ready(situation):
            move = Move("late" if source == NONE else "arrives", self.packets[packet][0], packet)
            yield from self._arrivals(self._without(situation, source), move, False)
        if situation.faults:
            yield from self._faulty(situation._replace(faults=situation.faults - 1))

    # ---- one part

    def seen(self, part: int, at: At) -> Seen:
        """What a part is."""
        return self.atlas.places[part][at[0]].seen

    def step(self, part: int, number: int, step: Step) -> tuple[int, Sent]:
        """What a step leads to."""
        self._tick()
        return self.atlas.after(part, number, step)

    def closure(self, part: int, begin: frozenset[At]) -> frozenset[At]:
        """All states that a part comes into from others by turns that nobody else notices."""
        found = self._closed.get((part, begin))
        if found is None:
            seen, todo = set(begin), list(begin)
            while todo:
                for _, _, following in self.unnoticed(part, todo.pop()):
                    if following not in seen:
                        seen.add(following)
                        todo.append(following)
            found = self._closed[part, begin] = frozenset(seen)
        return found

    def unnoticed(self, part: int, at: At) -> Iterator[Pair]:
        """The turns of a part that nobody else notices."""
        for step, turn, early in self._turns(part, at):
            if turn.asks is None and not turn.is_packet:
                following, sent = self.step(part, at[0], step)
                if not sent:
                    yield at, step, (following, early)

    def _turns(self, part: int, at: At) -> Iterator[tuple[Step, Shown, int]]:
        """The turns that a part can take while others can, and how often a timer may go off early after each."""
        _, early = at
        for place, turn in enumerate(self.seen(part, at).turns):
            if early or not turn.is_timer:
                yield ("turn", place), turn, early - (turn.is_timer and early > 0)

    # ---- what parts see of each other

    def _acts(self, situation: Situation, part: int) -> Iterator[Following]:
        """Turns of a part that another one notices."""
        full = part % 2 == 0 and len(situation.fifos[part // 2]) >= self.world.room
        sending: dict[Sent, list[Pair]] = {}
        asking: dict[Step, list[tuple[At, Step, int]]] = {}
        for at in sorted(situation.sets[part]):
            for step, turn, early in self._turns(part, at):
                if turn.asks is not None:
                    asking.setdefault(turn.asks, []).append((at, step, early))
                elif not (turn.is_packet and full):
                    following, sent = self.step(part, at[0], step)
                    if sent:
                        sending.setdefault(sent, []).append((at, step, (following, early)))
        for sent, pairs in sending.items():
            moved = self._moved(situation, part, pairs)
            for arrived, log in self._delivered(moved, part, sent, ((part, pairs),)):
                yield Move("acts", part), arrived, log
        for question, askers in asking.items():
            yield from self._answered(situation, part, question, askers)

    def _answered(
        self, situation: Situation, part: int, question: Step, askers: list[tuple[At, Step, int]]
    ) -> Iterator[Following]:
        """A part asks the other one of its node; what it is told depends on that one's state."""
        other, answers = part ^ 1, dict[object, list[Pair]]()
        for at in sorted(situation.sets[other]):
            _, ((_, (_, answer)),) = self.step(other, at[0], question)
            answers.setdefault(answer, []).append((at, (), at))
        for answer, known in answers.items():
            sending: dict[Sent, list[Pair]] = {}
            for at, step, early in askers:
                told = (*step, answer)
                following, sent = self.step(part, at[0], told)
                sending.setdefault(sent, []).append((at, told, (following, early)))
            for sent, pairs in sending.items():
                moved = self._moved(self._moved(situation, other, known), part, pairs)
                for arrived, log in self._delivered(moved, part, sent, ((other, known), (part, pairs))):
                    yield Move("acts", part), arrived, log

    def _delivered(self, situation: Situation, source: int, sent: Sent, log: Log) -> Iterator[tuple[Situation, Log]]:
        """Messages of a part: packets enter the network, what goes over the bus is there at once."""
        if not sent:
            yield situation, log
            return
        (target, message), *rest = sent
        if message[0] == "packet":
            node = source // 2
            fifos = _with(situation.fifos, node, (*situation.fifos[node], self._number(target, message)))
            yield from self._delivered(situation._replace(fifos=fifos), source, tuple(rest), log)
            return
        for answers, pairs in self._taken(situation, target, message).items():
            moved = self._moved(situation, target, pairs)
            for after, whole in self._delivered(moved, target, answers, (*log, (target, pairs))):
                yield from self._delivered(after, source, tuple(rest), whole)

    def _taken(self, situation: Situation, part: int, message: Step) -> dict[Sent, list[Pair]]:
        """What a message makes of a part, by what the part says to it at once."""
        found: dict[Sent, list[Pair]] = {}
        for at in sorted(situation.sets[part]):
            if message[0] != "packet" or self.seen(part, at).armed:
                following, sent = self.step(part, at[0], message)
                found.setdefault(sent, []).append((at, message, (following, at[1])))
        return found

    def _moved(self, situation: Situation, part: int, pairs: list[Pair]) -> Situation:
        states = self.closure(part, frozenset(after for _, _, after in pairs))
        return situation._replace(sets=_with(situation.sets, part, states))

    # ---- the network

    def _ready(self, situation: Situation) -> Iterator[tuple[int, int]]:
        """The packets that can arrive: source (NONE: the late one), number."""
        for source, fifo in enumerate(situation.fifos):
            if fifo:
                yield source, fifo[0]
        if situation.late != NONE:
            yield NONE, situation.late

    def _arrivals(self, situation: Situation, move: Move, damaged: bool) -> Iterator[Following]:
        target, (kind, data, _) = self.packets[move.packet]
        for sent, pairs in self._taken(situation, target, (kind, data, damaged)).items():
            moved = self._moved(situation, target, pairs)
            for arrived, log in self._delivered(moved, target, sent, ((target, pairs),)):
                yield move, arrived, log

    def _without(self, situation: Situation, source: int) -> Situation:
        if source == NONE:
            return situation._replace(late=NONE)
        return situation._replace(fifos=_with(situation.fifos, source, situation.fifos[source][1:]))

    def _faulty(self, situation: Situation) -> Iterator[Following]:
        faults = self.world.faults
        for source, fifo in enumerate(situation.fifos):
            if not fifo:
                continue
            packet, without = fifo[0], self._without(situation, source)
            if "lost" in faults:
                yield Move("lost", 2 * source, packet), without, ()
            if "damaged" in faults:
                yield from self._arrivals(without, Move("damaged", self.packets[packet][0], packet), True)
            if situation.late == NONE and "doubled" in faults:
                yield Move("doubled", 2 * source, packet), situation._replace(late=packet), ()
            if situation.late == NONE and "overtaken" in faults:
                yield Move("overtaken", 2 * source, packet), without._replace(late=packet), ()

    def waiting(self, situation: Situation) -> list[int]:
        """The packets in the network."""
        return [packet for fifo in situation.fifos for packet in fifo] + [situation.late] * (situation.late != NONE)

    def _number(self, part: int, packet: Step) -> int:
        number = self._packet_numbers.get((part, packet))
        if number is None:
            number = self._packet_numbers[part, packet] = len(self.packets)
            self.packets.append((part, packet))
        return number

    # ---- rest

    def resting(self, situation: Situation) -> tuple[frozenset[At], ...]:
        """By part: the states in which nothing but a timer can happen to it. Where one has none, the world is never at
        rest.
        """
        wanted = {self.packets[packet][0] for _, packet in self._ready(situation)}
        return tuple(
            frozenset(at for at in states if self._rests(part, at, situation, part in wanted))
            for part, states in enumerate(situation.sets)
        )

    def _rests(self, part: int, at: At, situation: Situation, wanted: bool) -> bool:
        seen = self.seen(part, at)
        full = part % 2 == 0 and len(situation.fifos[part // 2]) >= self.world.room
        if any((at[1] == ALWAYS or not turn.is_timer) and not (turn.is_packet and full) for turn in seen.turns):
            return False
        return not (wanted and seen.armed)

    def timers(self, situation: Situation, resting: tuple[frozenset[At], ...]) -> Iterator[Following]:
        """The timers of a world at rest."""
        rest = situation._replace(sets=resting)
        stay: Log = tuple((part, [(at, (), at) for at in sorted(states)]) for part, states in enumerate(resting))
        for part, states in enumerate(resting):
            pairs: dict[Sent, list[Pair]] = {}
            for at in sorted(states):
                for place, turn in enumerate(self.seen(part, at).turns):
                    if turn.is_timer:
                        following, sent = self.step(part, at[0], ("turn", place))
                        pairs.setdefault(sent, []).append((at, ("turn", place), (following, at[1])))
            for sent, found in pairs.items():
                moved = self._moved(rest, part, found)
                for arrived, log in self._delivered(moved, part, sent, (*stay, (part, found))):
                    yield Move("timer", part), arrived, log


def _with(values: tuple, place: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:place], value, *values[place + 1 :])


class SingleMoves(Moves):
    """The same, one state of each part at a time: every turn is a move, whether others notice it or not."""

    def closure(self, part: int, begin: frozenset[At]) -> frozenset[At]:
        """Nothing is taken together."""
        return begin

    def after(self, situation: Situation) -> Iterator[Following]:
        """See `Moves`."""
        yield from super().after(situation)
        for part, states in enumerate(situation.sets):
            for at in states:
                for pair in self.unnoticed(part, at):
                    yield Move("acts", part), self._moved(situation, part, [pair]), ((part, [pair]),)
