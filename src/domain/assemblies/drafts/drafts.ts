import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, type Refusal } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { ServiceError, Unprocessable } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AssemblyEvaluator } from '../evaluation/assembly-evaluator.ts';
import { DraftUnreadable } from '../spec/text/parse.ts';
import type { AssemblyTarget } from '../store.ts';
import { type Draft, readDraft } from './draft-store.ts';

/** A draft as it is stored: the text, and its parsed content. */
export interface ParsedDraft {
  readonly source: string;
  readonly spec: JsonValue;
}

/** The text of a draft that was sent as text or as an object. */
export function toSource(spec: JsonValue): string {
  return typeof spec === 'string' ? spec : `${JSON.stringify(spec, null, 2)}\n`;
}

/** Reads the text of a draft in the author's threads. @throws Unprocessable naming the line and the column where it cannot be read */
export async function readSource(evaluator: AssemblyEvaluator, source: string): Promise<ParsedDraft> {
  try {
    const { value } = await evaluator.parseDraft(source);
    return { source, spec: value };
  } catch (error) {
    throw error instanceof DraftUnreadable ? toUnprocessable(error) : error;
  }
}

function toUnprocessable({ line, column, message: problem }: DraftUnreadable): Unprocessable {
  const message = `spec: line ${line}, column ${column}: ${problem}`;
  const details = { errors: [{ in: 'body', path: 'spec', message: problem, line, column }] };
  return new Unprocessable(message, { code: 'draft_unreadable', details });
}

const draftMissing: Refusal = {
  code: 'draft_missing',
  message: 'the assembly has no draft: save one first, with PUT at its path /draft',
};

/** The refusal to publish an assembly without a draft; null if it has one. */
export function findDraftRefusal({ draftRevision }: { readonly draftRevision: number }): Refusal | null {
  return draftRevision > 0 ? null : draftMissing;
}

/** Reads the draft for an operation that needs one. @throws Conflict if there is none */
export async function requireDraft(em: Em, assemblyId: string): Promise<Draft> {
  const draft = await readDraft(em, assemblyId);
  if (!draft) throw new ActionRefused(draftMissing);
  return draft;
}

/** Reads the draft for a request of the draft itself. @throws ServiceError (404) if there is none */
export async function findDraft(em: Em, assemblyId: string): Promise<Draft> {
  const draft = await readDraft(em, assemblyId);
  if (!draft) throw new ServiceError('notFound', draftMissing.message);
  return draft;
}

/**
 * Stores a draft; the same text again changes nothing. The caller has locked the assembly.
 * @param expectedRevision the expected revision of the draft; 0: there must be none yet
 * @throws Conflict for a stale revision, or if the assembly or its owner is archived
 */
export async function saveDraft(
  tx: Transaction,
  target: AssemblyTarget,
  { source, spec }: ParsedDraft,
  expectedRevision: number | undefined,
  by: Principal,
): Promise<void> {
  const { assembly } = target;
  refuseArchived(target);
  refuseStale({ revision: assembly.draftRevision }, expectedRevision);
  await tx.em.populate(assembly, ['draftSource']);
  if (!assembly.saveDraft({ source, spec }, by.id)) return;
  await tx.em.flush();
}
