import { answerError } from '#api/edge/errors/error-answers.ts';
import type { ErrorCode } from '#domain/shared/error-codes.ts';
import { Invalid, ServiceError } from '#domain/shared/errors.ts';
import { invalidRequest } from '#domain/shared/validation/validation-messages.ts';
import { toFieldProblem, toSentence } from '../text.ts';
import type { Visit } from '../visit/visit.ts';

/** What is wrong with a submitted form, in sentences. */
export interface FormProblems {
  /** The status with which the form is shown again. */
  readonly status: number;
  /** The problems of fields, by the field's name. A name is the path of the value in the operation's body. */
  readonly fields: Readonly<Record<string, string>>;
  /** The problems of values that are no fields of the form, by their path in the operation's body. */
  readonly ofOthers: Readonly<Record<string, string>>;
  /** What concerns no field of the form: the problems of other values, or of the request as a whole. */
  readonly others: readonly string[];
  /** The problems of controls that are no fields of the form, such as those of variables, by their ids in the page. */
  readonly listed?: readonly { readonly target: string; readonly label: string; readonly message: string }[];
  /** The rule that was broken. */
  readonly code?: ErrorCode;
  /** The single problems as the error names them, for forms whose fields are not those of the body. */
  readonly details?: readonly ProblemDetail[];
}

export type Submission<Result> =
  | { readonly done: true; readonly result: Result }
  | { readonly done: false; readonly problems: FormProblems };

/** The statuses of errors that a person can correct in the form, such as by choosing an owner for which they may do it. */
const correctable = new Set([400, 403, 409, 413, 422, 429]);

/**
 * Carries out what a form asks for. An error that its sender can correct there is returned as problems; any other error is thrown and gets
 * an error page. `names` are the fields of the form.
 */
export async function submit<Result>(
  visit: Visit,
  names: readonly string[],
  work: () => Promise<Result>,
): Promise<Submission<Result>> {
  try {
    const result = await work();
    if (visit.wrong.length > 0) throw invalidRequest(visit.wrong);
    return { done: true, result };
  } catch (error) {
    const problems = explain(visit, names, error);
    if (!problems) throw error;
    return { done: false, problems };
  }
}

function explain(visit: Visit, names: readonly string[], error: unknown): FormProblems | null {
  if (!(error instanceof ServiceError)) return null;
  const { status, headers, body } = answerError(error, visit.request);
  if (!correctable.has(status)) return null;
  visit.reply.headers({ ...headers });
  const details = error instanceof Invalid ? withAll(problemDetails(error), visit.wrong) : problemDetails(error);
  const fields: Record<string, string> = {};
  const ofOthers: Record<string, string> = {};
  const others: string[] = [];
  for (const { path, message } of details.length > 0 ? details : [withoutDetails(body.error, names)]) {
    const name = findField(names, path);
    // A problem inside a field that holds more than one value keeps its path.
    const text = name === path ? besideField(path, message) : toSentence(message);
    if (name !== undefined) fields[name] = [fields[name], text].filter(Boolean).join('\n');
    else others.push(text);
    if (name === undefined && path !== '') ofOthers[path] = text;
  }
  return { status, fields, ofOthers, others, code: error.code, details };
}

/** A problem beside its field, without the field's path in front of it. Where it leads to a list of the API, the page has that list. */
function besideField(path: string, message: string): string {
  const words = message.replace(/\bGET \/api\/v1\/(?:[\w-]+\/)*([\w-]+) lists them$/, 'this page lists all $1');
  return words.startsWith(`${path}: `) ? toSentence(words.slice(path.length + 2)) : toFieldProblem(words);
}

/** The field of the form that a path of the body is in: `spec.outputs` is in `spec`. */
function findField(names: readonly string[], path: string): string | undefined {
  const around = names.filter((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
  return around.sort((one, other) => other.length - one.length)[0];
}

/** An error without details may name the field at its beginning, as in `version: expected …`. */
function withoutDetails(message: string, names: readonly string[]): ProblemDetail {
  const [, name] = /^([\w.]+): /.exec(message) ?? [];
  return { path: name !== undefined && findField(names, name) ? name : '', message };
}

/** One problem. `path` is the place in the body, or a JSON pointer where the problem is in the variables of a template. */
export interface ProblemDetail {
  readonly path: string;
  readonly message: string;
}

/** An error lists a limited number of problems, and one that was thrown before the operation knows only its own. */
function withAll(named: ProblemDetail[], wrong: readonly ProblemDetail[]): ProblemDetail[] {
  const isNamed = ({ path, message }: ProblemDetail) =>
    named.some((each) => each.path === path && each.message === message);
  return [...named, ...wrong.filter((each) => !isNamed(each))];
}

/** The single problems that an error names; empty if it is about the whole. */
function problemDetails(error: ServiceError): ProblemDetail[] {
  const errors = error.details?.['errors'];
  return Array.isArray(errors)
    ? errors.map(({ path, message }) => ({ path: String(path), message: String(message) }))
    : [];
}
