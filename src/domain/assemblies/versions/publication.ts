import { createHash } from 'node:crypto';
import { VersionPublished } from '#domain/registry/publication/errors.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, Unprocessable } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { requireDraft } from '../drafts/drafts.ts';
import { type DraftReport, type ValidationContext, validateSource } from '../drafts/validation.ts';
import { AssemblyVersion, type ChosenTemplate } from '../entity.ts';
import type { AssemblySpec } from '../spec/spec.ts';
import type { AssemblyTarget } from '../store.ts';
import { weakenNodeApproval } from './protection.ts';

/** A version to be published from the draft. */
export interface NewAssemblyVersion {
  readonly version: string;
  readonly changelog: string;
  /** The publication is refused if the draft now has another revision. */
  readonly expectedRevision?: number | undefined;
}

/** The content of a version, validated before its transaction because that may take seconds. */
export interface PreparedAssemblyVersion {
  /** The draft that was validated. */
  readonly draftRevision: number;
  readonly source: string;
  readonly spec: AssemblySpec;
  readonly templates: Record<string, ChosenTemplate>;
  /** The keys of the nodes for which each node waits. */
  readonly dependencies: Record<string, string[]>;
  /** `sha256:…` over spec and templates: versions with the same digest have the same effect. */
  readonly digest: string;
}

/**
 * Validates the draft and chooses the template version of each node.
 * @throws Unprocessable with all problems of the draft; Conflict for a stale revision, an archived assembly, or if there is no draft
 */
export async function preparePublication(
  context: ValidationContext,
  target: AssemblyTarget,
  { expectedRevision }: NewAssemblyVersion,
): Promise<PreparedAssemblyVersion> {
  refuseArchived(target);
  const draft = await requireDraft(context.em, target.assembly.id);
  refuseStale(draft, expectedRevision);
  const report = await validateSource(context, target.teamId, draft.source);
  if (report.spec === null) throw draftInvalid(report);
  const { spec, templates, dependencies } = report;
  const digest = `sha256:${createHash('sha256')
    .update(canonicalJson([spec, templates]))
    .digest('hex')}`;
  return { draftRevision: draft.revision, source: draft.source, spec, templates, dependencies, digest };
}

/**
 * Publishes a version permanently. Publishing the same version with the same content again finds the existing one. The caller has locked
 * the assembly's row, so of two concurrent publications one creates the version and the other finds it.
 * @throws Conflict if the version is published with other content, if the draft was changed meanwhile, or if the assembly or its owner is
 * archived
 * @throws Forbidden if its nodes demand less approval than they did, and the publisher may not weaken policies
 */
export async function publishAssembly(
  tx: Transaction,
  target: AssemblyTarget,
  { version: name, changelog }: NewAssemblyVersion,
  { draftRevision, ...content }: PreparedAssemblyVersion,
  publisher: Principal,
): Promise<{ version: AssemblyVersion; isNew: boolean }> {
  refuseArchived(target);
  const { assembly } = target;
  if (assembly.draftRevision !== draftRevision) throw draftChanged();
  const earlier = await tx.em.findOne(AssemblyVersion, { assemblyId: assembly.id, version: name });
  if (earlier && earlier.digest !== content.digest) throw new VersionPublished(name);
  if (earlier) return { version: earlier, isNew: false };
  await weakenNodeApproval(tx, target, { version: name, nodes: content.spec.nodes }, publisher);
  const version = tx.em.create(AssemblyVersion, {
    ...content,
    id: newId(),
    assemblyId: assembly.id,
    version: name,
    changelog,
    publishedBy: publisher.id,
    responsibleUserId: publisher.responsibleUserId,
  });
  await tx.em.persist(version).flush();
  publishEvent(tx, target, name, publisher);
  return { version, isNew: true };
}

function publishEvent(tx: Transaction, { assembly, ...target }: AssemblyTarget, version: string, by: Principal): void {
  const owners = { teamId: target.teamId, organizationId: target.organizationId };
  tx.publish({ type: 'assembly.published', subjectId: assembly.id, owners, data: { by: by.name, version } });
}

function draftInvalid({ errors }: DraftReport): Unprocessable {
  const [first] = errors;
  const more = errors.length > 1 ? `, and ${errors.length - 1} more problems` : '';
  const message = `the draft is not valid: ${first?.path || 'spec'}: ${first?.message}${more}`;
  const named = errors.map(({ line, column, ...error }) => ({
    ...error,
    ...(line !== null && { line }),
    ...(column !== null && { column }),
  }));
  return new Unprocessable(message, { code: 'assembly_invalid', details: { errors: named } });
}

function draftChanged(): Conflict {
  return new Conflict('the draft was changed while it was validated: read it, and publish again', 'concurrent_change');
}
