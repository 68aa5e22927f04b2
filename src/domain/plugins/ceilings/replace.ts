import { noteEnd, onlyGeneration } from '#domain/shared/access/ended-eligibility-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, invalidField } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { PluginCeiling } from '../entity.ts';
import { type InstallationDetails, type InstallationTarget, refuseRemoved } from '../installations/store.ts';
import { readDeclarations } from '../manifests/store.ts';
import type { Manifest } from '../model.ts';
import { type OwnershipSnapshot, refuseOtherOwnership } from '../places/ownership-snapshot.ts';
import { type ApprovedExecution, isCurrent, isPinnedToActive } from './model.ts';
import { type CeilingDetails, findCeiling } from './store.ts';

export interface NewCeiling {
  readonly actions: readonly string[];
  readonly executions: readonly ApprovedExecution[];
  readonly expectedRevision: number;
  /** The revision of the ceiling itself, 0 before there is one. */
  readonly expectedCeilingRevision: number;
  readonly expectedOwnership: OwnershipSnapshot;
}

/**
 * Replaces the ceiling of an installation. A removed action loses its assignments permanently; an action that stays keeps them. It gives
 * nobody any authority. The caller has locked the installation for a change. (specification, *Plugin authority*, rule 6)
 */
export async function replaceCeiling(
  tx: Transaction,
  caller: Principal,
  target: InstallationTarget,
  wanted: NewCeiling,
): Promise<{ id: string; revision: number; before: CeilingDetails | undefined }> {
  const { installation } = target;
  refuseRemoved(installation);
  refuseArchived(target);
  refuseStale(installation, wanted.expectedRevision);
  refuseOtherOwnership(target.place, wanted.expectedOwnership);
  const before = await findCeiling(tx.em, installation.id);
  refuseStaleCeiling(before, wanted.expectedCeilingRevision);
  const release = requireRelease(installation);
  checkNames(await requireDeclarations(tx, installation.id, release), wanted);
  for (const execution of wanted.executions) refuseOtherPin(installation, execution);
  const revision = (before?.revision ?? 0) + 1;
  await tx.em.upsert(PluginCeiling, {
    installationId: installation.id,
    release,
    installationRevision: installation.revision,
    actions: approve(wanted.actions, before && isCurrent(before, installation) ? before : undefined),
    executions: [...wanted.executions],
    revision,
    setBy: caller.id,
    setAt: new Date(),
  });
  await noteEnd(tx.em, caller, droppedBy(wanted, before), onlyGeneration);
  return { id: installation.id, revision, before };
}

/** The approvals that a new ceiling drops. Those of a stale ceiling have already ended with its release. */
function droppedBy({ actions }: NewCeiling, before: CeilingDetails | undefined): string[] {
  return before?.actions.flatMap(({ name, approval }) => (actions.includes(name) ? [] : [approval])) ?? [];
}

/** An action that stays approved keeps its approval, and with it its assignments. */
function approve(names: readonly string[], before: CeilingDetails | undefined) {
  const kept = new Map(before?.actions.map(({ name, approval }) => [name, approval]));
  return names.map((name) => ({ name, approval: kept.get(name) ?? newId() }));
}

/**
 * Refuses a stale revision of the ceiling. The revision of the installation is the same for all ceilings of a release, so it cannot show
 * that somebody has replaced the ceiling.
 */
function refuseStaleCeiling(ceiling: CeilingDetails | undefined, expected: number): void {
  const revision = ceiling?.revision ?? 0;
  if (expected === revision) return;
  throw new Conflict(
    `expected_ceiling_revision: ${expected} is stale, the ceiling has the revision ${revision}: read it again`,
    'stale_revision',
  );
}

function requireRelease({ activeRelease }: InstallationDetails): string {
  if (activeRelease !== null) return activeRelease;
  throw new Conflict('the installation has no active release: activate one first', 'plugin_release_unknown');
}

async function requireDeclarations(tx: Transaction, installationId: string, release: string): Promise<Manifest> {
  const manifest = await readDeclarations(tx.em, installationId, release);
  if (manifest) return manifest;
  throw new Conflict(
    `only the digest of the release ${release} is known: stage its original manifest first`,
    'plugin_manifest_missing',
  );
}

function checkNames({ actions, executions }: Manifest, wanted: NewCeiling): void {
  const known = actions.map(({ name }) => name);
  wanted.actions.forEach((name, index) => {
    if (!known.includes(name)) throw invalidField(`actions[${index}]`, `no action "${name}" is declared`);
  });
  wanted.executions.forEach(({ name }, index) => {
    const declared = executions.find((each) => each.name === name);
    if (!declared) throw invalidField(`executions[${index}].name`, `no execution "${name}" is declared`);
    // Without its action, the execution would be approved but could never run.
    if (!wanted.actions.includes(declared.action))
      throw invalidField(
        `executions[${index}].name`,
        `"${name}" uses the action "${declared.action}": approve that too`,
      );
  });
}

/** @throws Conflict for an execution that is not pinned to the active release and revision: the caller may have read an earlier state */
function refuseOtherPin(installation: InstallationDetails, execution: ApprovedExecution): void {
  if (isPinnedToActive(execution, installation)) return;
  const { name, release, installation_revision: revision } = execution;
  throw new Conflict(
    `the execution "${name}" is pinned to the release ${release} at revision ${revision}; active is ` +
      `${installation.activeRelease} at ${installation.revision}: read the installation again`,
    'stale_revision',
  );
}
