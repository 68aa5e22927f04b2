import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkRestoration,
  checkRoots,
  commitRestoration,
  type RestorationDeps,
} from '#domain/plugins/restorations/steps.ts';

/** Carries out a restoration as its workflow does. */
export async function carryOut(deps: RestorationDeps, id: string): Promise<void> {
  if (!(await checkRestoration(deps, id))) return;
  if (!(await checkRoots(deps, id))) return;
  await commitRestoration(deps, id);
}

/** Stands in for the engine and a worker: carries out each restoration that is requested, until it is stopped. */
export function carryOutRestorations(deps: RestorationDeps): { stop(): Promise<void> } {
  let isStopped = false;
  const work = async () => {
    while (!isStopped) {
      const rows = await deps.orm.em
        .fork()
        .execute<{ id: string }[]>(`select id from plugin_restorations where status = 'running'`);
      for (const { id } of rows) await carryOut(deps, id);
      await sleep(20);
    }
  };
  const working = work();
  return {
    stop: () => {
      isStopped = true;
      return working;
    },
  };
}
