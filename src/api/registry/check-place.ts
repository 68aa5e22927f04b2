import { toDenial } from '#api/pipeline/access/authorization.ts';
import type { Em } from '#database/database.ts';
import { canRunIn } from '#domain/environments/model.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { checkPlaceAccess as access } from '#domain/registry/checks/module-sources.ts';
import type { TemplateTarget } from '#domain/registry/store.ts';
import { decide } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { NotFound, Unprocessable } from '#domain/shared/errors.ts';
import { refuseClosed } from '#domain/shared/features/gates.ts';

/**
 * Refuses an environment that the caller may not use to check a template.
 * @throws NotFound if the caller may not read it; Forbidden without `connection:use` there; FeatureDisabled while connections are turned
 * off; Conflict if it is archived; Unprocessable if it belongs to another team than the template
 */
export async function refuseCheckPlace(
  em: Em,
  { principal, target, environmentId }: { principal: Principal; target: TemplateTarget; environmentId: string },
): Promise<void> {
  const environment = await findEnvironment(em, environmentId);
  const decision = environment
    ? decide(principal, access, environment)
    : ({ allowed: false, because: 'hidden' } as const);
  const denial = toDenial({ targetName: 'environment' }, { decision, access });
  if (denial || !environment) throw denial ?? new NotFound('environment');
  refuseClosed('connections', principal.closedFeatures);
  refuseArchived(environment);
  if (canRunIn(target.teamId, environment.teamId)) return;
  throw new Unprocessable(
    "check_environment_id: the environment belongs to another team than the template: name one of the template's team",
    { code: 'template_of_other_team' },
  );
}
