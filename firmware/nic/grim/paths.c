/* What each step of GRIM's NI firmware costs on the LANai. One function is one path; the rules are in pymodels/costs/README.md. */
#include "ni.h"
#include "pieces.h"
#include "polling.h"
#include "sending.h"
#include "receiving.h"
#include "answers.h"
#include "remote.h"
#include "timeouts.h"
