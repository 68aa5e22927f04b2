import { toDenial } from '#api/pipeline/access/authorization.ts';
import type { Em } from '#database/database.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { readAccess as templateReadAccess } from '#domain/registry/access.ts';
import { findTemplateOwner } from '#domain/registry/store.ts';
import { type AdmissionTarget, findAdmissionTarget } from '#domain/runs/admission/target.ts';
import { type Access, decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { NotFound, Unprocessable } from '#domain/shared/errors.ts';

/** The target of a request for a run. `admission` is null if the environment exists but cannot run the template. */
export interface WantedTarget extends Ownership {
  readonly admission: AdmissionTarget | null;
}

export async function findWantedTarget(
  em: Em,
  wanted: { templateId: string; environmentId?: string | undefined },
  lock: boolean,
): Promise<WantedTarget | undefined> {
  const admission = await findAdmissionTarget(em, wanted, lock);
  if (admission) return { organizationId: admission.organizationId, teamId: admission.teamId, admission };
  const environment = wanted.environmentId === undefined ? null : await findEnvironment(em, wanted.environmentId);
  if (!environment) return undefined;
  return { organizationId: environment.organizationId, teamId: environment.teamId, admission: null };
}

/**
 * If the template cannot run in the environment, a caller who may read the environment may learn why. An access review of a team's runs
 * knows only the team: its target has no `admission`.
 */
export function accessToWanted(access: Access): (target: Partial<WantedTarget>) => Access {
  return ({ admission }) => (admission === null ? { ...access, teamAction: 'team.metadata.read' } : access);
}

/**
 * The target of the admission.
 * @throws the reason why the environment cannot run the template, for a caller who may read the environment
 */
export async function requireAdmission(
  target: WantedTarget,
  templateId: string,
  { em, principal, access }: { em: Em; principal: Principal; access: Access },
): Promise<AdmissionTarget> {
  if (target.admission) return target.admission;
  const template = await findTemplateOwner(em, templateId);
  // The same answer, whether the template does not exist or the caller may not read it: its existence stays hidden.
  if (!template || !decide(principal, templateReadAccess, template).allowed) throw new NotFound('the template');
  const denial = toDenial({ targetName: 'environment' }, { decision: decide(principal, access, target), access });
  throw denial ?? new Unprocessable(otherTeam, { code: 'template_of_other_team' });
}

const otherTeam =
  "template_id: the template belongs to another team than the environment: use a template of the environment's team, or one of the whole installation";
