import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { AssemblyEvaluator } from '../evaluation/assembly-evaluator.ts';
import { DraftUnreadable } from '../spec/text/parse.ts';
import { validateSpec } from '../spec/validate.ts';
import { openCatalog } from './catalog.ts';

/** The principal for whom a draft is validated, and the dependencies. */
export interface ValidationContext {
  readonly em: Em;
  readonly principal: Principal;
  readonly evaluator: Evaluator;
}

/** One problem of a draft. */
export interface DraftProblem {
  /** A JSON pointer into the spec; empty: the whole spec. */
  readonly path: string;
  readonly message: string;
  /** The line of the draft's text. */
  readonly line: number | null;
  /** The column, if the text cannot be parsed. */
  readonly column: number | null;
}

type Validation = Awaited<ReturnType<typeof validateSpec>>;

/** The problems of a draft. `spec` is null if there are errors. */
export interface DraftReport extends Pick<Validation, 'spec' | 'templates' | 'dependencies'> {
  /** The parsed text; null if it cannot be parsed. */
  readonly value: JsonValue;
  readonly errors: readonly DraftProblem[];
  readonly warnings: readonly DraftProblem[];
}

/** Validates the text of a draft for the assemblies of a team. */
export async function validateSource(
  { em, principal, evaluator }: ValidationContext,
  teamId: string,
  source: string,
): Promise<DraftReport> {
  const author = new AssemblyEvaluator(evaluator, limitSubjectOfCaller(principal));
  const draft = await read(author, source);
  if (draft instanceof DraftUnreadable) return unreadable(draft);
  const validated = await validateSpec(draft.value, openCatalog(em, teamId), author);
  const { errors, warnings, spec, templates, dependencies } = validated;
  const place = ({ path, message }: { path: string; message: string }) => ({
    path,
    message,
    line: draft.lineOf(path),
    column: null,
  });
  return {
    value: draft.value,
    errors: errors.map(place),
    warnings: warnings.map(place),
    spec: errors.length > 0 ? null : spec,
    templates,
    dependencies,
  };
}

async function read(author: AssemblyEvaluator, source: string) {
  try {
    return await author.parseDraft(source);
  } catch (error) {
    if (error instanceof DraftUnreadable) return error;
    throw error;
  }
}

function unreadable({ message, line, column }: DraftUnreadable): DraftReport {
  const errors = [{ path: '', message, line, column }];
  return { value: null, errors, warnings: [], spec: null, templates: {}, dependencies: {} };
}
