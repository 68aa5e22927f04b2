import type { z } from 'zod';
import { type ActionContext, describeActions } from '#api/pipeline/actions.ts';
import type { Em } from '#database/database.ts';
import { type AssemblyUse, findAssemblyUse } from '#domain/assemblies/assemblies.ts';
import { findDraftRefusal } from '#domain/assemblies/drafts/drafts.ts';
import { readAssembly } from '#domain/assemblies/list-store.ts';
import type { AssemblyTarget } from '#domain/assemblies/store.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { type AssemblyView, assemblyActions, draftActions, viewListed } from './views.ts';

type AssemblyAction = (typeof assemblyActions)[number];

interface AssemblyFacts extends AssemblyUse {
  readonly target: AssemblyTarget;
  /** Null if no version is published. */
  readonly latestVersion: string | null;
}

/** For each action: the operation that carries it out, and the area's rule on it. */
const declared: Record<AssemblyAction, { operation: string; findRefusal: (facts: AssemblyFacts) => Refusal | null }> = {
  save_draft: { operation: 'assemblies.save_draft', findRefusal: ({ target }) => findArchivedRefusal(target) },
  publish: {
    operation: 'assemblies.publish',
    findRefusal: ({ target }) => findArchivedRefusal(target) ?? findDraftRefusal(target.assembly),
  },
  run: {
    operation: 'assemblies.run',
    findRefusal: ({ target, latestVersion }) =>
      findArchivedRefusal(target) ?? (latestVersion === null ? unpublished : null),
  },
  update: { operation: 'assemblies.update', findRefusal: ({ target }) => findArchivedRefusal(target) },
  archive: { operation: 'assemblies.archive', findRefusal: ({ archiving }) => archiving },
  unarchive: {
    operation: 'assemblies.unarchive',
    findRefusal: ({ target }) => findUnarchivingRefusal('assembly', target),
  },
  delete: { operation: 'assemblies.delete', findRefusal: ({ deletion }) => deletion },
};

const unpublished: Refusal = {
  code: 'version_unknown',
  message: 'the assembly has no published version: publish its draft first',
};

/** Shows one assembly, and what the caller may do with it. */
export async function showAssembly(
  { em, ...context }: ActionContext & { readonly em: Em },
  target: AssemblyTarget,
): Promise<z.input<typeof AssemblyView>> {
  const { id } = target.assembly;
  const [assembly, use] = await Promise.all([readAssembly(em, id), findAssemblyUse(em, context.principal, id)]);
  if (!assembly) throw new NotFound('assembly');
  return {
    ...viewListed(assembly),
    actions: describe(context, { ...use, target, latestVersion: assembly.latestVersion }, assemblyActions),
  };
}

/** What the caller may do with a draft. */
export function describeDraftActions(context: ActionContext, target: AssemblyTarget) {
  const unused = { archiving: null, deletion: null, latestVersion: null };
  return describe(context, { ...unused, target }, draftActions);
}

function describe<Name extends AssemblyAction>(context: ActionContext, facts: AssemblyFacts, names: readonly Name[]) {
  const { organizationId, teamId } = facts.target;
  return describeActions(
    context,
    names.map((name) => ({
      name,
      operation: declared[name].operation,
      target: { organizationId, teamId },
      findRefusal: () => declared[name].findRefusal(facts),
    })),
  );
}
