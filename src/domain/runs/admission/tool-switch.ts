import type { Em } from '#database/database.ts';
import type { Instance } from '#domain/instances/entity.ts';
import { lockAndReadInstance } from '#domain/instances/state/state.ts';
import { findInstanceScope, type InstanceTarget } from '#domain/instances/store.ts';
import { findInstance } from '#domain/instances/targets.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, type Refusal } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { policyOf } from '#domain/shared/vocabulary/approval.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { authorsOfRun } from '../approval/repeated-authors.ts';
import { Run } from '../entity.ts';
import { type AdmittedRun, admitRun } from './admission.ts';
import { buildRun } from './build-run.ts';
import { openInputsToRepeat } from './inputs/inputs.ts';
import { targetIsGone } from './rules.ts';
import { type AdmissionTarget, findAdmissionTarget } from './target.ts';

/** An instance whose tool is to be switched, with what its runs are admitted for. */
export interface SwitchTarget extends InstanceTarget {
  /** Undefined: its template or its environment no longer exists. */
  readonly admission: AdmissionTarget | undefined;
}

interface SwitchLookup {
  readonly em: Em;
  readonly params: { readonly id: string };
  readonly callerId: string;
  readonly lock: boolean;
}

/** With `lock`, owners, template and environment are shared before the instance is locked. */
export async function findSwitchTarget(lookup: SwitchLookup): Promise<SwitchTarget | undefined> {
  const { em, params, lock } = lookup;
  const scope = await findInstanceScope(em, params.id);
  if (!scope) return undefined;
  const { templateId, environmentId } = scope;
  const wanted = { templateId, ...(environmentId !== null && { environmentId }) };
  const admission = await findAdmissionTarget(em, wanted, lock);
  const instance = await findInstance(lookup);
  return instance && { ...instance, admission };
}

export const nothingToSwitch: Refusal = {
  code: 'nothing_deployed',
  message:
    'the instance is not deployed, or the inputs of its last deployment were deleted: apply it with the tool that you want',
};

/** Why the people responsible for the repeated run may not approve the switch. */
const repeated = {
  requested: 'you asked for the run whose inputs it repeats, or for one that that run repeats',
  answers: 'you are responsible for the run whose inputs it repeats',
};

/**
 * Admits a run that switches an instance to another tool, or to other versions of its tool: it plans the last deployment with that tool,
 * and fails with `switch_not_empty` if the plan changes anything. It needs the approvals that a change needs. The caller has locked the
 * target.
 * @throws Conflict if nothing is deployed, if the instance uses that tool already, or if version, files or environment require another tool
 * @throws Unprocessable for a template of commands
 */
export async function admitToolSwitch(
  tx: Transaction,
  keyRing: KeyRing,
  target: SwitchTarget,
  tool: WantedTool,
  { key, requester }: { readonly key: string; readonly requester: Principal },
): Promise<AdmittedRun> {
  const { admission } = target;
  if (!admission) throw new ActionRefused(targetIsGone);
  const { deployed, stateSerial, present } = await requireDeployment(tx.em, target, admission);
  const version = await loadVersionById(tx.em, deployed.templateVersionId);
  if (version.spec.executor.kind === 'command')
    throw new Unprocessable('tool: the template runs commands, which need no tool', { code: 'operation_unsupported' });
  refuseSameTool(present, tool);
  const resolve = () =>
    buildRun(tx.em, keyRing, admission, version, {
      operation: 'apply',
      replace: [],
      instance: deployed.instance,
      requeuedFrom: null,
      message: `Switches the tool to ${[tool.name, tool.version].filter(Boolean).join(' ')}`,
      approval: policyOf(deployed),
      shown: deployed.variables,
      inputs: openInputsToRepeat(keyRing, deployed.id, deployed.sealedInputs),
      toolSwitch: tool,
    });
  return admitRun(tx, key, admission, { instance: deployed.instance, resolve }, requester, {
    authors: await authorsOfRun(tx.em, deployed.id, repeated),
    reviewNeeds: deployed.reviewNeeds,
    expects: { stateSerial, deployedRunId: deployed.id },
  });
}

async function requireDeployment(em: Em, { id }: SwitchTarget, { templateId }: AdmissionTarget) {
  const present = await lockAndReadInstance(em, id);
  const { deployedRunId, stateSerial } = present;
  const deployed = deployedRunId ? await em.findOne(Run, { id: deployedRunId }) : null;
  const isThere = deployed?.templateId === templateId && deployed.operation !== 'destroy';
  if (deployed && isThere && deployed.sealedInputs.length > 0) return { deployed, stateSerial, present };
  throw new ActionRefused(nothingToSwitch);
}

/** @throws Conflict if the instance would use the same tool in the same versions afterwards */
function refuseSameTool({ tool: kind, toolVersion, wantedTool }: Instance, { name, version }: WantedTool): void {
  if (kind !== name || wantedTool?.version !== version) return;
  const used = [name, version ?? toolVersion].filter(Boolean).join(' ');
  throw new Conflict(
    `tool: the instance uses ${used} already: name another tool, or a range of versions that it does not have`,
    'same_tool',
  );
}
