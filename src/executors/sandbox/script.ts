import type { Environment } from '../shared/environment.ts';
import type { JobLimits } from './job-limits.ts';
import type { JobPaths } from './job-paths.ts';

/** One program of a job. */
export interface Step {
  readonly program: string;
  readonly arguments: readonly string[];
  /** Added to the job's own environment. */
  readonly environment?: Environment;
  /** Milliseconds; null or missing: only the attempt's own time limit applies. */
  readonly timeoutMs?: number | null;
}

/** The steps of a job. */
export interface JobSteps {
  readonly steps: readonly Step[];
  readonly environment: Environment;
  /** The directory in which the steps start, as they see it. */
  readonly startIn: string;
}

/** Limits that apply to each process by itself. They are set before template code runs. */
interface ProcessLimits {
  readonly openFiles: number;
  readonly fileBytes: number;
  /** Null if a control group limits the number. */
  readonly processes: number | null;
  /** Null if a control group limits the memory. */
  readonly memoryBytes: number | null;
  readonly cpuSeconds: number;
}

/** Memory that a process may map in addition to what it uses. */
const memoryHeadroomBytes = 64 * 1024 * 1024;

/** The port on the sandbox's own loopback at which programs reach the host. */
export const relayPort = 61_280;

/** What the script reports on descriptor 3, one line each. It continues when it reads a line from descriptor 4. */
export type ScriptEventName = 'waiting' | 'begin' | 'end' | 'missing' | 'ready' | 'broken';

/** What the first script has to know before there is a job. */
interface ScriptTraits {
  /** Whether the script runs below an init of its own. */
  readonly isSandboxed: boolean;
  /** Whether programs reach the host through a relay. */
  readonly hasRelay: boolean;
}

/**
 * Writes the first script of a job: it sets the limits, makes the directories, starts the relay, and waits for the host. It
 * contains nothing about the job, so that a sandbox can be made before there is one. The scripts are all that a sandbox
 * contains in addition to the template and its tool.
 */
export function writeBootstrap(
  paths: JobPaths,
  limits: ProcessLimits,
  { isSandboxed, hasRelay }: ScriptTraits,
): string {
  const { work, home, temporary, script, relay } = paths;
  return [
    'trap : INT TERM HUP',
    'umask 077',
    ...ulimitLines(limits),
    `mkdir -p ${[work, home, temporary].map(quote).join(' ')} || { echo broken files >&3; exit 1; }`,
    ...(hasRelay ? relayLines(relay) : []),
    // In a sandbox, `kill -1` reaches only the sandbox's own processes; this shell and the init are spared.
    `finish() { ${isSandboxed ? '[ "$PPID" = 1 ] && kill -9 -1 2>/dev/null; ' : ''}echo ready >&3; read -r word <&4; exit 0; }`,
    'echo waiting >&3',
    'read -r word <&4; [ "$word" = go ] || exit 0',
    `. ${quote(script)}`,
    '',
  ].join('\n');
}

/**
 * Writes the second script: it runs the steps one after the other, each when the host says so. At the end it kills what the
 * steps left running, and keeps the directories open until the host has read the results. It sets the environment itself,
 * because the program that makes the sandbox runs outside of it and must not see variables such as LD_PRELOAD.
 */
export function writeSteps({ steps, environment, startIn }: JobSteps, { input, work }: JobPaths): string {
  const lines = [
    `cp -R ${quote(`${input}/work/.`)} ${quote(work)} && cd ${quote(startIn)} || { echo broken files >&3; exit 1; }`,
    // Set last, so that none of it reaches the programs above.
    ...Object.entries(environment).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...steps.flatMap(stepLines),
    'finish',
    '',
  ];
  return lines.join('\n');
}

/**
 * Returns the limits for each process by itself. They are slightly above the job's limits, so that a check sees those exceeded
 * first. Without a sandbox there is no limit on processes, because the kernel would count all processes of the user.
 */
export function processLimits(
  limits: JobLimits,
  { isSandboxed, hasGroup }: { isSandboxed: boolean; hasGroup: boolean },
): ProcessLimits {
  return {
    openFiles: limits.openFiles,
    fileBytes: limits.diskBytes,
    processes: isSandboxed && !hasGroup ? limits.processes + 64 : null,
    memoryBytes: hasGroup ? null : limits.memoryBytes * 1.25 + memoryHeadroomBytes,
    cpuSeconds: limits.cpuSeconds * 1.25 + 5,
  };
}

/** Sets the limits in the kernel's units. A shell that does not know one of them goes on without it. */
function ulimitLines({ openFiles, fileBytes, processes, memoryBytes, cpuSeconds }: ProcessLimits): string[] {
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

/**
 * Starts the relay in its own session, so that interrupting the steps does not stop it, and waits until it listens. The network of a sandbox
 * is its own, so the first socket in use is that of the relay. To list the sockets, the kernel would search those of the whole machine.
 */
function relayLines(socket: string): string[] {
  const listen = `TCP4-LISTEN:${relayPort},bind=127.0.0.1,reuseaddr,fork,max-children=256,backlog=128`;
  return [
    `setsid socat ${listen} UNIX-CONNECT:${quote(socket)} </dev/null >/dev/null 2>&1 3>&- 4<&- &`,
    'tries=0',
    'until while read -r name _ inUse _; do [ "$name" = TCP: ] && break; done </proc/net/sockstat && [ "$inUse" -gt 0 ]; do',
    '  tries=$((tries + 1)); [ "$tries" -gt 500000 ] && { echo broken relay >&3; exit 1; }',
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
    // When memory runs out, the kernel kills the programs first, so that this shell can still report.
    `  echo 500 2>/dev/null >/proc/self/oom_score_adj; exec 3>&- 4<&-; exec ${[name, ...given.map(quote)].join(' ')} ) </dev/null`,
    `echo end ${index} "$?" >&3`,
  ];
}

/** Quotes a word for the shell. It may hold anything but NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
