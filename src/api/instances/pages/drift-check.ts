import { create, get as getMonitor, list as listMonitors } from '#api/drift/monitor-operations.ts';
import type { Instance, InstanceVisit } from '#api/environments/pages/instance-table.ts';
import type { ActionButton } from '#api/web/components/actions.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Action } from '#domain/shared/actions.ts';
import type { Names } from '#domain/tenancy/names.ts';

export interface DriftCheck {
  readonly action: Action;
  readonly button: ActionButton;
}

/**
 * The button that checks whether an instance is still as it was deployed. It starts a scan by its monitor, or leads to the form that
 * creates a monitor. Null if the visitor may not know about monitors.
 */
export async function readDriftCheck(
  visit: InstanceVisit,
  { id, team_id: teamId }: Instance,
  names: Names,
): Promise<DriftCheck | null> {
  if (!visit.mayDo(listMonitors).allowed) return null;
  const query = { instance_id: id, limit: '1' };
  const { drift_monitors: monitors } = await visit.read(listMonitors, { query });
  const [known] = monitors;
  if (known === undefined) {
    const owner = { teamId, organizationId: (teamId && names.get(teamId)?.organizationId) ?? null };
    const path = pagePath(pages.newDriftMonitor, {}, { instance_id: id });
    return { action: visit.mayDo(create, owner), button: { label: 'Watch for drift', icon: 'activity', path } };
  }
  const { actions } = await visit.read(getMonitor, { params: { id: known.id } });
  const action = actions.find(({ name }) => name === 'scan');
  const path = pagePath(pages.scanForDrift, { id: known.id });
  return action ? { action, button: { label: 'Check for drift', icon: 'activity', path } } : null;
}
