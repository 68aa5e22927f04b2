import { posix } from 'node:path';
import { type Diagnostic, maxDiagnosticLengths } from '#domain/runs/diagnostics/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { cutText, joinLines } from '#domain/shared/values/text.ts';
import { maxCheckItems } from '../protocol/result-schema.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { asArray, isObject, parseJson } from '../shared/json.ts';

/** The result of `validate` for a configuration. */
export interface Validation {
  readonly findings: readonly Diagnostic[];
  readonly unchecked: readonly string[];
}

/** Messages of `validate` if `init` could not fetch a module or a provider, or if a variable chooses the module. */
const unavailablePatterns = [
  /^Module not installed$/,
  /^Missing required provider$/,
  /^Inconsistent dependency lock file$/,
  /^Required plugins are not installed$/,
  // With a lock file, the tool names the packages that are missing or whose digests differ from the lock file.
  /^missing or corrupted provider plugins:/,
  /^\S+\/\S+\/\S+: (?:there is no package for|failed to verify checksum of|the cached package for) /,
  /^Failed to (?:load|obtain) /,
  /^Failed to request input from user for variable /,
  /^Unable to compute static value$/,
];
/** The message of `init` about a module in a local directory that does not exist. */
const missingDirectory = /^The directory .*could not be read for module "(.+)" at (.+):(\d+)\.$/;

/**
 * Reads the answer of `validate -json`, together with the problems of the `init` before it. Something that could not be fetched is not an
 * error, because it may be available in the environments in which the template runs.
 * @throws AttemptFailure `plan_failed` if the answer cannot be read
 */
export function readValidation(answer: Buffer, problems: readonly Diagnostic[], directory: string): Validation {
  const said = readDiagnostics(answer, directory);
  const isUnavailable = ({ message }: Diagnostic) => unavailablePatterns.some((pattern) => pattern.test(message));
  const absent = problems.flatMap((problem) => absentModule(problem, directory));
  const isAbsent = ({ file, line }: Diagnostic) => absent.some((each) => each.file === file && each.line === line);
  const findings = [...absent, ...said.filter((each) => !isUnavailable(each))];
  const missing = said.filter((each) => isUnavailable(each) && !isAbsent(each));
  const errors = problems.filter(({ severity, detail = '' }) => severity === 'error' && !missingDirectory.test(detail));
  const hasErrors = findings.some(({ severity }) => severity === 'error');
  // If the tool itself found errors, `init` repeats them in other words.
  const reasons = missing.length > 0 || !hasErrors ? errors.filter((each) => !repeats(each, findings)) : [];
  const unchecked = reasons.length > 0 ? reasons : missing;
  return {
    findings: findings.toSorted(byPlace),
    unchecked: [...new Set(unchecked.map(describe))].slice(0, maxCheckItems),
  };
}

/** Sorts by place, because the tools report errors in a varying order. */
function byPlace(one: Diagnostic, other: Diagnostic): number {
  const [left, right] = [one.file ?? '', other.file ?? ''];
  return left === right ? (one.line ?? 0) - (other.line ?? 0) : left < right ? -1 : 1;
}

function repeats({ message }: Diagnostic, findings: readonly Diagnostic[]): boolean {
  return message === 'Unreadable module directory' || findings.some((finding) => finding.message === message);
}

function absentModule({ severity, detail = '' }: Diagnostic, directory: string): Diagnostic[] {
  const [, module, file = '', line] = severity === 'error' ? (missingDirectory.exec(detail) ?? []) : [];
  if (module === undefined) return [];
  const message = `the module "${module}" is in a directory that is not among the files`;
  return [{ severity: 'error', message, file: posix.join(directory, file), line: Number(line) }];
}

function describe({ message, detail = '' }: Diagnostic): string {
  const text = detail === '' ? message : `${message}: ${joinLines(detail)}`;
  return cutText(text, maxDiagnosticLengths.detail);
}

function readDiagnostics(answer: Buffer, directory: string): Diagnostic[] {
  let parsed: JsonValue;
  try {
    parsed = parseJson(answer);
  } catch (error) {
    throw new AttemptFailure('plan_failed', 'the tool ended without saying whether the configuration is valid', {
      cause: error,
    });
  }
  return asArray(isObject(parsed) ? parsed['diagnostics'] : undefined).flatMap((each) => {
    if (!isObject(each)) return [];
    const { severity, summary, detail, range, address } = each;
    return [
      {
        severity: severity === 'warning' ? ('warning' as const) : ('error' as const),
        message: textOf(summary) ?? '(no message)',
        detail: textOf(detail),
        address: textOf(address),
        ...placeOf(range, directory),
      },
    ];
  });
}

/** The place of a finding. Files of modules from elsewhere are below the data directory of the tool, and their paths show that. */
function placeOf(range: JsonValue | undefined, directory: string): Pick<Diagnostic, 'file' | 'line'> {
  if (!isObject(range)) return {};
  const { filename, start } = range;
  const line = isObject(start) ? start['line'] : undefined;
  if (typeof filename !== 'string' || typeof line !== 'number' || posix.isAbsolute(filename)) return {};
  const file = posix.normalize(posix.join(directory, filename));
  return file.startsWith('../') ? {} : { file, line };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
