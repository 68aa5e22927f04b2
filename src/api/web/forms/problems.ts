import { answerError } from '#api/edge/errors/error-answers.ts';
import type { ErrorCode } from '#domain/error-codes.ts';
import { Invalid, ServiceError } from '#domain/shared/errors.ts';
import { invalidRequest } from '#domain/shared/validation/validation-messages.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { type Labels, toPlainWords } from '../plain-words.ts';
import { toFieldProblem, toSentence } from '../text.ts';
import type { Visit } from '../visit/visit.ts';

/** What is wrong with a submitted form, in sentences. */
export interface FormProblems {
  /** The status with which the form is shown again. */
  readonly status: number;
  /** The problems of fields, by the field's name. A name is the path of the value in the operation's body. */
  readonly fields: Readonly<Record<string, string>>;
  /** What concerns no field of the form: the problems of other values, or of the request as a whole. */
  readonly others: readonly string[];
  /** The problems of controls that are no fields of the form, such as those of variables, by their ids in the page. */
  readonly listed?: readonly { readonly target: string; readonly label: string; readonly message: string }[];
  /** The problems in the part of the form that is made from a schema, by their JSON pointers. */
  readonly inPart?: readonly { readonly pointer: string; readonly message: string }[];
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

/** What a problem can belong to. */
interface Targets {
  /** The fields of the form. */
  readonly names: readonly string[];
  /** What the fields are called, for messages that name others. */
  readonly labels?: Labels;
  /** Where a path of the body is in the part of the form that is made from a schema, as a JSON pointer. */
  readonly findPointer?: (path: string) => string | undefined;
}

/**
 * Carries out what a form asks for. An error that its sender can correct there is returned as problems; any other error is thrown and gets
 * an error page. `form` has the fields of the form.
 */
export async function submit<Result>(
  visit: Visit,
  form: readonly string[] | Targets,
  work: () => Promise<Result>,
): Promise<Submission<Result>> {
  try {
    const result = await work();
    if (visit.problems.length > 0) throw invalidRequest(visit.problems);
    return { done: true, result };
  } catch (error) {
    const problems = explain(visit, 'names' in form ? form : { names: form }, error);
    if (!problems) throw error;
    return { done: false, problems };
  }
}

function explain(visit: Visit, targets: Targets, error: unknown): FormProblems | null {
  if (!(error instanceof ServiceError)) return null;
  const { status, headers, body } = answerError(error, visit.request);
  if (!correctable.has(status)) return null;
  visit.reply.headers({ ...headers });
  const details = error instanceof Invalid ? withAll(problemDetails(error), visit.problems) : problemDetails(error);
  const all = details.length > 0 ? details : [withoutDetails(body.error, targets.names)];
  const { inPart, rest } = splitByPart(all, targets);
  const isFound = details.some(({ pointer }) => pointer !== undefined);
  return { status: isFound ? 422 : status, ...atFields(targets, rest), inPart, code: error.code, details };
}

/** The problems of the part that is made from a schema, and all others. What the page has found there is not said again in the words of the operation. */
function splitByPart(all: readonly ProblemDetail[], { names, labels, findPointer }: Targets) {
  const found = new Set(all.map(({ pointer }) => pointer));
  const inPart: { pointer: string; message: string }[] = [];
  const rest: ProblemDetail[] = [];
  for (const detail of all) {
    const { path, message } = detail;
    const isOfField = findField(names, path) !== undefined;
    const pointer = detail.pointer ?? (isOfField ? undefined : findPointer?.(path));
    if (pointer === undefined) rest.push(detail);
    else if (detail.pointer !== undefined) inPart.push({ pointer, message });
    else if (!found.has(pointer)) inPart.push({ pointer, message: toFieldProblem(message, path, labels) });
  }
  return { inPart, rest };
}

function atFields({ names, labels }: Targets, problems: readonly ProblemDetail[]) {
  const fields: Record<string, string> = {};
  const others: string[] = [];
  for (const { path, message } of problems) {
    const name = findField(names, path) ?? findByLastName(names, path);
    if (name === undefined) others.push(besideNothing(path, message, labels));
    else fields[name] = [fields[name], besideField({ name, path, message }, labels)].filter(Boolean).join('\n');
  }
  return { fields, others };
}

/** A problem beside its field. Where it leads to a list of the API, the page has that list. */
function besideField({ name, path, message }: ProblemDetail & { name: string }, labels: Labels | undefined): string {
  const words = message.replace(/\bGET \/api\/v1\/(?:[\w-]+\/)*([\w-]+) lists them$/, 'this page lists all $1');
  const inner = path.startsWith(name) ? path.slice(name.length) : '';
  return `${placeWithin(inner)}${toFieldProblem(words, path, labels)}`;
}

/** Where a problem is within a field that holds more than one value. */
function placeWithin(inner: string): string {
  const index = /^\[(\d+)\]$/.exec(inner)?.[1];
  if (index !== undefined) return `Item ${Number(index) + 1}: `;
  return inner === '' || /^\.\w+_id$/.test(inner) ? '' : `${inner.replace(/^\./, '')}: `;
}

/** A problem of a value that the form does not have. */
function besideNothing(path: string, message: string, labels: Labels | undefined): string {
  if (path === '') return toSentence(toPlainWords(message, labels));
  if (path.startsWith('/')) return `${splitPointer(path).join(' / ')}: ${toFieldProblem(message, path, labels)}`;
  const name =
    path
      .split('.')
      .at(-1)
      ?.replace(/_ids?$/, '')
      .replaceAll('_', ' ') ?? '';
  return `${labels?.get(path) ?? toSentence(name).slice(0, -1)}: ${toFieldProblem(message, path, labels)}`;
}

/** The field of the form that a path of the body is in: `spec.outputs` is in `spec`. */
function findField(names: readonly string[], path: string): string | undefined {
  const around = names.filter((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
  return around.sort((one, other) => other.length - one.length)[0];
}

/** The one field that has the name of the last part of a path: of a list or a record that the form adds one thing to. */
function findByLastName(names: readonly string[], path: string): string | undefined {
  const last = /\.(\w+)$/.exec(path)?.[1];
  return names.find((name) => name === last);
}

/** An error without details may name the field at its beginning, as in `version: expected …`. */
function withoutDetails(message: string, names: readonly string[]): ProblemDetail {
  const [, name] = /^([\w.[\]-]+): /.exec(message) ?? [];
  const isField = name !== undefined && (findField(names, name) ?? findByLastName(names, name)) !== undefined;
  return { path: isField ? name : '', message };
}

/** One problem. `path` is the place in the body, or a JSON pointer where the problem is in the variables of a template. */
export interface ProblemDetail {
  readonly path: string;
  readonly message: string;
  /** Where the page has found it in the part that is made from a schema. */
  readonly pointer?: string;
}

/** An error lists a limited number of problems, and one that was thrown before the operation knows only its own. */
function withAll(named: ProblemDetail[], found: readonly ProblemDetail[]): ProblemDetail[] {
  const isSame = (one: ProblemDetail, other: ProblemDetail) =>
    one.path === other.path && one.message === other.message && one.pointer === other.pointer;
  return [...named, ...found.filter((each) => !named.some((one) => isSame(one, each)))];
}

/** The single problems that an error names; empty if it is about the whole. */
function problemDetails(error: ServiceError): ProblemDetail[] {
  const errors = error.details?.['errors'];
  if (!Array.isArray(errors)) return [];
  return errors.map(({ path, message, pointer, file, line }) => ({
    path: String(path),
    message:
      typeof file === 'string' ? `${message} (${file}${line === undefined ? '' : `, line ${line}`})` : String(message),
    ...(typeof pointer === 'string' && { pointer }),
  }));
}
