import { visitorOwners } from '#api/tenancy/pages/owner-choice.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { create } from '../operations.ts';

/** Whether the visitor may create a set for an organization or a team in the scope of the page. */
export async function mayCreateSet(visit: Visit): Promise<Action> {
  return visit.mayDo(create, ...(await visitorOwners(visit)));
}
