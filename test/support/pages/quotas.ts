import { required } from './answers.ts';
import type { People } from './people.ts';
import type { Tenants } from './tenants.ts';

const gibibyte = 1024 ** 3;

/** Limits the installation, an organization and teams. One quota is full. */
export async function addQuotas({ admin }: People, { teams, organizations }: Tenants): Promise<void> {
  const quotas = {
    'installation/global': { concurrent_runs: 200, runs_per_day: 5000, log_bytes: 500 * gibibyte },
    [`organization/${organizations.northwind.id}`]: { concurrent_runs: 40, templates: 60, api_keys: 100 },
    [`team/${teams.platform.id}`]: { concurrent_runs: 8, queued_runs: 25, instances: 40, state_bytes: 2 * gibibyte },
    [`team/${teams.payments.id}`]: { instances: 1, templates: 10 },
  };
  for (const [path, limits] of Object.entries(quotas))
    required(await admin.put(`/admin/quotas/${path}`, { limits }), 200);
}
