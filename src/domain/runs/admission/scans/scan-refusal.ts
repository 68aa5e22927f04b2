import type { Em } from '#database/database.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { targetIsGone } from '../rules.ts';
import { archivedLevels } from '../target.ts';
import { readScanFacts, type ScanFacts } from './scan-store.ts';

/**
 * The refusals of `admitScan` for instances, by their ids. Instances that can be scanned have no entry. Closed pools are not checked.
 * Nothing is locked, so the result may have changed when somebody requests the scan.
 */
export async function readScanRefusals(em: Em, instanceIds: readonly string[]): Promise<Map<string, Refusal>> {
  const facts = await readScanFacts(em, instanceIds);
  const found = new Map(facts.map((each) => [each.instanceId, findRefusal(each)]));
  const refused = instanceIds.map((id) => [id, found.has(id) ? (found.get(id) ?? null) : targetIsGone] as const);
  return new Map(refused.flatMap(([id, refusal]) => (refusal ? [[id, refusal]] : [])));
}

function findRefusal(facts: ScanFacts): Refusal | null {
  if (!facts.exists) return targetIsGone;
  const archived = archivedLevels.filter((level) => facts[`${level}Archived`]);
  return findArchivedRefusal({ archived }) ?? findDeploymentRefusal(facts);
}

/** What a scan needs of the last run that changed an instance. */
type DeploymentFacts = Pick<ScanFacts, 'operation' | 'resourceCount' | 'hasInputs' | 'executorKind' | 'hasDetect'>;

/** Why an instance cannot be scanned because of its deployment; null if it can. */
export function findDeploymentRefusal(facts: DeploymentFacts): Refusal | null {
  const { operation, resourceCount, hasInputs, executorKind, hasDetect } = facts;
  if (operation === null) return nothingDeployed;
  if (resourceCount === 0) return holdsNothing;
  // The resources that a failed destroy left should not exist, so a scan has nothing to compare them with.
  if (operation === 'destroy') return isBeingRemoved;
  if (!hasInputs) return nothingDeployed;
  return executorKind === 'command' && !hasDetect ? hasNoDetectSteps : null;
}

export const nothingDeployed: Refusal = {
  code: 'nothing_deployed',
  message: 'no run has deployed the instance: deploy it first, so that there is something to compare with',
};

const holdsNothing: Refusal = {
  code: 'nothing_deployed',
  message: 'the instance holds nothing: deploy it first, so that it can drift',
};

const isBeingRemoved: Refusal = {
  code: 'nothing_deployed',
  message:
    'the instance is being removed: a destroy was the last run that changed it. Deploy it again, or destroy the rest',
};

const hasNoDetectSteps: Refusal = {
  code: 'operation_unsupported',
  message: 'the deployed version of the template has no "detect" steps: publish a version that has some, and apply it',
};
