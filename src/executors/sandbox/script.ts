import type { Environment } from '../host/environment.ts';

/** One program of a job. */
export interface Step {
  readonly program: string;
  readonly arguments: readonly string[];
  /** Beside the job's own environment. */
  readonly environment?: Environment;
  /** Milliseconds; null or missing: only the attempt's own limit holds. */
  readonly timeoutMs?: number | null;
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

export interface ScriptPlaces {
  /** Files for the work directory; copied, so that programs may change them. */
  readonly input: string;
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  /** Where programs start. */
  readonly directory: string;
  /** The unix socket that leads to the host; null without one. */
  readonly relay: string | null;
}

/** Where programs in a sandbox reach the host: its own loopback, which nobody else shares. */
export const relayPort = 61_280;

/** What the script reports on descriptor 3, a line each. It continues when a line arrives on descriptor 4. */
export type ScriptWord = 'begin' | 'end' | 'missing' | 'ready' | 'broken';

/**
 * The shell script that runs a job's steps, one after the other, each after the host's word. At the end it kills whatever
 * the steps left running and holds the directories open until the host has read the results. It is the only thing in a
 * sandbox that is not the template's or a tool's, and it knows nothing that they do not. The environment is set here and
 * not at the script's start: what starts a sandbox lies outside of it, and variables such as LD_PRELOAD must not reach that.
 */
export function writeScript(
  steps: readonly Step[],
  environment: Environment,
  places: ScriptPlaces,
  limits: ProcessLimits,
  isContained: boolean,
): string {
  const lines = [
    'trap : INT TERM HUP',
    'umask 077',
    ...limitLines(limits),
    `mkdir -p ${quote(places.work)} ${quote(places.home)} ${quote(places.temporary)} && cp -R ${quote(`${places.input}/.`)} ${quote(places.work)} && cd ${quote(places.directory)} || { echo broken files >&3; exit 1; }`,
    ...(places.relay === null ? [] : relayLines(places.relay)),
    // In a sandbox, "all processes" are its own; this shell and the sandbox's init are spared.
    `finish() { ${isContained ? '[ "$PPID" = 1 ] && kill -9 -1 2>/dev/null; ' : ''}echo ready >&3; read -r word <&4; exit 0; }`,
    // Last, so that none of it reaches the programs above.
    ...Object.entries(environment).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...steps.flatMap(stepLines),
    'finish',
    '',
  ];
  return lines.join('\n');
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
    `( ${exports.join(' ')} command -v -- ${name} >/dev/null 2>&1 || { echo missing ${index} >&3; exit 127; }`,
    // Where memory runs out, the programs go first, and this shell can still say so.
    `  echo 500 2>/dev/null >/proc/self/oom_score_adj; exec 3>&- 4<&-; exec ${[name, ...given.map(quote)].join(' ')} ) </dev/null`,
    `echo end ${index} "$?" >&3`,
  ];
}

/** A word for the shell, whatever it holds but NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
