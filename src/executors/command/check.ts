import type { Attempt, AttemptSuccess } from '../attempt/attempt.ts';
import { toWorkFiles } from '../attempt/work-files.ts';
import { type StepKind, stepKinds, type WireRequest } from '../protocol/request-schema.ts';
import type { CheckReport, MissingProgram } from '../protocol/result-schema.ts';
import { AttemptFailure } from '../shared/errors.ts';

type CommandExecutor = Extract<WireRequest['executor'], { kind: 'command' }>;

const maxAnswerBytes = 64 * 1024;

/**
 * Searches for each argument in the way in which a program is started: on the search path, or at its absolute path. It prints the numbers
 * of missing ones. A shell's own commands do not count, because steps are started without a shell.
 */
const search = `
number=0
for program; do
  found=
  case $program in
    /*) [ -f "$program" ] && [ -x "$program" ] && found=1 ;;
    *)
      IFS=:
      for directory in $PATH; do
        [ -f "$directory/$program" ] && [ -x "$directory/$program" ] && found=1 && break
      done
      unset IFS ;;
  esac
  [ "$found" ] || echo "$number"
  number=$((number + 1))
done`;

/**
 * Looks in a sandbox for the programs that the steps start. Nothing of the template runs.
 * @throws AttemptFailure if the check itself could not be made
 */
export async function checkCommands(attempt: Attempt, executor: CommandExecutor): Promise<AttemptSuccess> {
  const unchecked: string[] = [];
  try {
    toWorkFiles(executor.files ?? {});
  } catch (error) {
    if (!(error instanceof AttemptFailure)) throw error;
    return { check: { findings: [{ severity: 'error', message: error.message }], unchecked, missingPrograms: [] } };
  }
  const started = stepKinds.flatMap((list) => startedPrograms(executor, list));
  const missing = await findMissing(attempt, [...new Set(started.map(({ program }) => program))]);
  return { check: { findings: [], unchecked, missingPrograms: started.filter(({ program }) => missing.has(program)) } };
}

/**
 * The programs of the machine that the steps start. Programs among the template's files, or on a search path of the step's own, are left
 * out.
 */
function startedPrograms(executor: CommandExecutor, list: StepKind): CheckReport['missingPrograms'] {
  const steps = executor[list] ?? [];
  return steps.flatMap(({ run: [program = ''], env = {} }, index): MissingProgram[] => {
    const isOfMachine = program.startsWith('/') || !program.includes('/');
    return isOfMachine && !Object.hasOwn(env, 'PATH') && !program.includes('\0') ? [{ list, index, program }] : [];
  });
}

async function findMissing(attempt: Attempt, programs: readonly string[]): Promise<Set<string>> {
  if (programs.length === 0) return new Set();
  const { code, captured } = await attempt.runJob(() => ({
    steps: [{ title: 'look for programs', program: 'sh', arguments: ['-c', search, 'sh', ...programs] }],
    files: new Map(),
    network: { state: false, egress: false },
    withoutRunEnvironment: true,
    captureBytes: maxAnswerBytes,
  }));
  if (code !== 0) throw new AttemptFailure('step_failed', `the search for programs ended with exit code ${code}`);
  const numbers = captured
    .toString()
    .split('\n')
    .filter((line) => /^\d+$/.test(line));
  return new Set(numbers.flatMap((number) => programs[Number(number)] ?? []));
}
