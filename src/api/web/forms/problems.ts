import { answerError } from '#api/edge/errors/error-answers.ts';
import { ServiceError } from '#domain/shared/errors.ts';
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
}

export type Submission<Result> =
  | { readonly done: true; readonly result: Result }
  | { readonly done: false; readonly problems: FormProblems };

/** The statuses of errors that a person can correct in the form. */
const correctable = new Set([400, 409, 413, 422, 429]);

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
    return { done: true, result: await work() };
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
  const details = problemDetails(error);
  const [ofFields, ofNone] = partition(details, ({ path }) => names.includes(path));
  return {
    status,
    fields: Object.fromEntries(ofFields.map(({ path, message }) => [path, toFieldProblem(message)])),
    ofOthers: Object.fromEntries(ofNone.map(({ path, message }) => [path, toSentence(message)])),
    others: details.length > 0 ? ofNone.map(({ message }) => toSentence(message)) : [toSentence(body.error)],
  };
}

interface ProblemDetail {
  readonly path: string;
  readonly message: string;
}

/** The single problems that an error names; empty if it is about the whole. */
function problemDetails(error: ServiceError): ProblemDetail[] {
  const errors = error.details?.['errors'];
  return Array.isArray(errors)
    ? errors.map(({ path, message }) => ({ path: String(path), message: String(message) }))
    : [];
}

function partition<Item>(items: readonly Item[], belongs: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(belongs), items.filter((item) => !belongs(item))];
}
