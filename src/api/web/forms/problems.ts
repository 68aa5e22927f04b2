import { answerError } from '#api/edge/errors/error-answers.ts';
import type { ErrorCode } from '#domain/error-codes.ts';
import { Invalid, ServiceError } from '#domain/shared/errors.ts';
import { invalidRequest } from '#domain/shared/validation/validation-messages.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { type Labels, toPlainWords } from '../plain-words.ts';
import { toFieldProblem, toSentence } from '../text.ts';
import type { Visit } from '../visit/visit.ts';
import type { FormField } from './fields/form-field.ts';
import { revisionName } from './read-form.ts';

/** The problems of a submitted form, as sentences. */
export interface FormProblems {
  /** The status with which the form is shown again. */
  readonly status: number;
  /** The problems of fields, by the field's name. A name is the path of the value in the operation's body. */
  readonly fields: Readonly<Record<string, string>>;
  /** Problems that belong to no field of the form: those of other values, or of the whole request. */
  readonly others: readonly string[];
  /** The problems of controls that are not fields of the form, such as those of variables, by their ids in the page. */
  readonly listed?: readonly { readonly target: string; readonly label: string; readonly message: string }[];
  /** Problems in the part of the form that is made from a schema, by JSON pointer. */
  readonly inPart?: readonly { readonly pointer: string; readonly message: string }[];
  /** The rule that was broken. */
  readonly code?: ErrorCode;
  /** The single problems as the error lists them, for forms whose fields differ from the members of the body. */
  readonly details?: readonly ProblemDetail[];
}

type Submission<Result> =
  | { readonly done: true; readonly result: Result }
  | { readonly done: false; readonly problems: FormProblems };

/** The statuses of errors that a person can correct in the form. 403, for example, by choosing another owner. */
const correctable = new Set([400, 403, 409, 413, 422, 429]);

/** The parts of a form to which a problem can belong. */
interface Targets {
  /** The fields of the form. */
  readonly names: readonly string[];
  /** The labels of the fields, for messages that name other fields. */
  readonly labels?: Labels;
  /** Finds the place of a path of the body, as a JSON pointer, in the part of the form that is made from a schema. */
  readonly findPointer?: (path: string) => string | undefined;
}

/**
 * Carries out a form. Returns an error that the visitor can correct in the form as problems. Throws any other error, which gets an error
 * page. `form` has the fields of the form.
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

/** Adds a problem if a form was sent without its revision, because it would overwrite what another person has changed. */
export function requireRevision(visit: Visit<unknown>): void {
  if (visit.openedFor === undefined) visit.addProblem(revisionName, 'must be sent');
}

function explain(visit: Visit, targets: Targets, error: unknown): FormProblems | null {
  if (!(error instanceof ServiceError)) return null;
  const { status, headers, body } = answerError(error, visit.request);
  // Another server may not respond now. The form keeps what was typed, and can be sent again later.
  const isToRepeat = error.kind === 'unavailable' && error.details?.['outcome'] === undefined;
  if (!correctable.has(status) && !isToRepeat) return null;
  visit.reply.headers({ ...headers });
  const details = error instanceof Invalid ? withAll(problemDetails(error), visit.problems) : problemDetails(error);
  const all = details.length > 0 ? details : [withoutDetails(body.error, targets.names)];
  const { inPart, rest } = splitByPart(all, targets);
  const isFound = details.some(({ pointer }) => pointer !== undefined);
  return { status: isFound ? 422 : status, ...atFields(targets, rest), inPart, code: error.code, details };
}

/**
 * Separates the problems of the part that is made from a schema. If the page has found a problem at the same place, that of the operation
 * is left out.
 */
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

/** The text of a problem beside its field. A hint to a list of the API becomes one to the list on this page. */
function besideField({ name, path, message }: ProblemDetail & { name: string }, labels: Labels | undefined): string {
  const words = message.replace(/\bGET \/api\/v1\/(?:[\w-]+\/)*([\w-]+) lists them$/, 'this page lists all $1');
  const inner = path.startsWith(name) ? path.slice(name.length) : '';
  return `${placeWithin(inner)}${toFieldProblem(words, path, labels)}`;
}

/** The place of a problem within a field that contains several values. */
function placeWithin(inner: string): string {
  const index = /^\[(\d+)\]$/.exec(inner)?.[1];
  if (index !== undefined) return `Item ${Number(index) + 1}: `;
  return inner === '' || /^\.\w+_id$/.test(inner) ? '' : `${inner.replace(/^\./, '')}: `;
}

/** The text of a problem whose value has no field in the form. */
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

/** The field of the form that contains a path of the body: `spec.outputs` is in `spec`. */
function findField(names: readonly string[], path: string): string | undefined {
  const around = names.filter((name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
  return around.sort((one, other) => other.length - one.length)[0];
}

/** The field whose name is the last part of a path, for a form that adds one item to a list or a record. */
function findByLastName(names: readonly string[], path: string): string | undefined {
  const last = /\.(\w+)$/.exec(path)?.[1];
  return names.find((name) => name === last);
}

/** An error without details may begin with the name of the field, as in `version: expected …`. */
function withoutDetails(message: string, names: readonly string[]): ProblemDetail {
  const [, name] = /^([\w.[\]-]+): /.exec(message) ?? [];
  const isField = name !== undefined && (findField(names, name) ?? findByLastName(names, name)) !== undefined;
  return { path: isField ? name : '', message };
}

/** A single problem. `path` is the place in the body, or a JSON pointer if the problem is in the variables of a template. */
interface ProblemDetail {
  readonly path: string;
  readonly message: string;
  /** The place in the part that is made from a schema, if the page found the problem. */
  readonly pointer?: string;
}

/**
 * Adds the problems that the page has found. An error lists only a limited number, and one that was thrown before the operation ran does
 * not have them.
 */
function withAll(named: ProblemDetail[], found: readonly ProblemDetail[]): ProblemDetail[] {
  const isSame = (one: ProblemDetail, other: ProblemDetail) =>
    one.path === other.path && one.message === other.message && one.pointer === other.pointer;
  return [...named, ...found.filter((each) => !named.some((one) => isSame(one, each)))];
}

/** The single problems that an error lists; empty if the error is about the whole request. */
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

/** The problem of an empty field, before it is known which field that is. */
const anyMissing = 'Enter a value.';
/** Problems of operations that may be about an empty choice. */
const anyUnchosen = new Set([
  'Choose one.',
  'Choose one of the options.',
  'Choose an environment.',
  'This does not exist: choose another one.',
]);

/** Labels that are not nouns, such as "Until" and "Type core to confirm". The problems of their fields stay as they are. */
const sentenceLabel =
  /^(?:About|Who|Where|Why|When|What|Or|Only|Keep|Give|From|Until|To|On|Starts|Ends|Attached)\b| to confirm$/;
const chosenKinds = new Set<FormField['kind']>(['select', 'radio', 'files', 'folder']);

/** The problems of a field, one a line. For a missing value, the problem names it: "Enter the name." */
export function nameMissing(problems: string, field: Pick<FormField, 'label' | 'kind' | 'value'>): string {
  return problems
    .split('\n')
    .map((line) => (isMissing(line, field) && !sentenceLabel.test(field.label) ? nameOf(field) : line))
    .join('\n');
}

function isMissing(line: string, { kind, value = '' }: Pick<FormField, 'kind' | 'value'>): boolean {
  return line === anyMissing || (chosenKinds.has(kind) && value === '' && anyUnchosen.has(line));
}

function nameOf({ label, kind }: Pick<FormField, 'label' | 'kind'>): string {
  return `${chosenKinds.has(kind) ? 'Choose' : 'Enter'} the ${lowerFirst(label)}.`;
}

/** Makes the first letter lower case, unless an abbreviation begins there, as in "URL". */
function lowerFirst(label: string): string {
  return /^[A-Z][A-Z]/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}
