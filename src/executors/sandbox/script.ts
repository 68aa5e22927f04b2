import type { Environment } from '../attempt/environment.ts';
import type { EnclosureLimits } from './enclosure-limits.ts';
import type { Places } from './places.ts';

/** One program of a job. */
export interface Step {
  readonly program: string;
  readonly arguments: readonly string[];
  /** Beside the job's own environment. */
  readonly environment?: Environment;
  /** Milliseconds; null or missing: only the attempt's own limit holds. */
  readonly timeoutMs?: number | null;
}

/** What a job runs. */
export interface JobSteps {
  readonly steps: readonly Step[];
  readonly environment: Environment;
  /** Where the steps start, as they see it. */
  readonly startIn: string;
}

/** Limits that each process keeps by itself; a sandbox sets them before template code runs. */
export interface ProcessLimits {
  readonly openFiles: number;
  readonly fileBytes: number;
  /** Where no control group counts the processes. */
  readonly processes: number | null;
  /** Where no control group counts the memory. */
  readonly memoryBytes: number | null;
  readonly cpuSeconds: number;
}

/** What a process may map beside what it uses. */
const mostNoise = 64 * 1024 * 1024;

/** Where programs in a sandbox reach the host: its own loopback, which nobody else shares. */
export const relayPort = 61_280;

/** What the script reports on descriptor 3, a line each. It continues when a line arrives on descriptor 4. */
export type ScriptWord = 'waiting' | 'begin' | 'end' | 'missing' | 'ready' | 'broken';

/** What a place is told about itself before it is known which job will run in it. */
export interface PlaceTraits {
  /** Whether the script runs below an init of its own. */
  readonly isContained: boolean;
  /** Whether the programs reach the host by a relay. */
  readonly hasRelay: boolean;
}

/**
 * The first half of the shell script in a place: it sets the limits, makes the directories, starts the relay, and waits for
 * the host's word. Until then it knows nothing of any job, so that a sandbox can be made before it is needed. The script is
 * the only thing in a sandbox that is not the template's or a tool's.
 */
export function writePreparation(
  places: Places,
  limits: ProcessLimits,
  { isContained, hasRelay }: PlaceTraits,
): string {
  const { work, home, temporary, script, relay } = places;
  return [
    'trap : INT TERM HUP',
    'umask 077',
    ...limitLines(limits),
    `mkdir -p ${[work, home, temporary].map(quote).join(' ')} || { echo broken files >&3; exit 1; }`,
    ...(hasRelay ? relayLines(relay) : []),
    // In a sandbox, "all processes" are its own; this shell and the sandbox's init are spared.
    `finish() { ${isContained ? '[ "$PPID" = 1 ] && kill -9 -1 2>/dev/null; ' : ''}echo ready >&3; read -r word <&4; exit 0; }`,
    'echo waiting >&3',
    'read -r word <&4; [ "$word" = go ] || exit 0',
    `. ${quote(script)}`,
    '',
  ].join('\n');
}

/**
 * The second half: it runs a job's steps, one after the other, each after the host's word. At the end it kills whatever the
 * steps left running and holds the directories open until the host has read the results. The environment is set here and not
 * where the script starts: what makes a sandbox lies outside of it, and variables such as LD_PRELOAD must not reach that.
 */
export function writeSteps({ steps, environment, startIn }: JobSteps, { input, work }: Places): string {
  const lines = [
    `cp -R ${quote(`${input}/work/.`)} ${quote(work)} && cd ${quote(startIn)} || { echo broken files >&3; exit 1; }`,
    // Last, so that none of it reaches the programs above.
    ...Object.entries(environment).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...steps.flatMap(stepLines),
    'finish',
    '',
  ];
  return lines.join('\n');
}

/**
 * What each process of a job may take by itself, each a little above the job's limit, so that a look finds that passed.
 * Outside of a sandbox the kernel counts all processes of the user together, so that their number cannot be limited so.
 */
export function processLimits(
  limits: EnclosureLimits,
  { isContained, hasGroup }: { isContained: boolean; hasGroup: boolean },
): ProcessLimits {
  return {
    openFiles: limits.openFiles,
    fileBytes: limits.diskBytes,
    processes: isContained && !hasGroup ? limits.processes + 64 : null,
    memoryBytes: hasGroup ? null : limits.memoryBytes * 1.25 + mostNoise,
    cpuSeconds: limits.cpuSeconds * 1.25 + 5,
  };
}

/** As the kernel takes them; a shell that does not know one of the limits goes on without it. */
function limitLines({ openFiles, fileBytes, processes, memoryBytes, cpuSeconds }: ProcessLimits): string[] {
  const lines = [
    'ulimit -c 0',
    `ulimit -n ${openFiles} 2>/dev/null`,
    `ulimit -f ${Math.ceil(fileBytes / 512)} 2>/dev/null`,
    `ulimit -t ${Math.ceil(cpuSeconds)} 2>/dev/null`,
  ];
  if (processes !== null) lines.push(`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`);
  if (memoryBytes !== null) lines.push(`ulimit -d ${Math.ceil(memoryBytes / 1024)} 2>/dev/null`);
  return lines;
}

/** Starts the relay apart from the steps, so that asking those to stop leaves it alone, and waits until it listens. */
function relayLines(socket: string): string[] {
  const listen = `TCP4-LISTEN:${relayPort},bind=127.0.0.1,reuseaddr,fork,max-children=256,backlog=128`;
  return [
    `setsid socat ${listen} UNIX-CONNECT:${quote(socket)} </dev/null >/dev/null 2>&1 3>&- 4<&- &`,
    'tries=0',
    'until while read -r _ _ _ state _; do [ "$state" = 0A ] && break; done </proc/net/tcp && [ "$state" = 0A ]; do',
    '  tries=$((tries + 1)); [ "$tries" -gt 20000 ] && { echo broken relay >&3; exit 1; }',
    'done',
  ];
}

function stepLines({ program, arguments: given, environment = {} }: Step, index: number): string[] {
  const name = quote(program);
  const exports = Object.entries(environment).map(([key, value]) => `export ${key}=${quote(value)};`);
  return [
    ...(index === 0 ? [] : ['read -r word <&4; [ "$word" = go ] || finish']),
    `echo begin ${index} >&3`,
    `( ${exports.join(' ')} ${program.includes('/') ? `[ -f ${name} ] && [ -x ${name} ]` : `command -v -- ${name} >/dev/null 2>&1`} || { echo missing ${index} >&3; exit 127; }`,
    // Where memory runs out, the programs go first, and this shell can still say so.
    `  echo 500 2>/dev/null >/proc/self/oom_score_adj; exec 3>&- 4<&-; exec ${[name, ...given.map(quote)].join(' ')} ) </dev/null`,
    `echo end ${index} "$?" >&3`,
  ];
}

/** A word for the shell, whatever it holds but NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
