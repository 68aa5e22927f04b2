import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { getPlan } from '../../approvals/approval-operations.ts';

/** Adds the download of a run's whole plan. */
export function registerPlanFile(addPage: AddPage): void {
  addPage('GET', pages.runPlanFile, async (visit) => {
    const { id } = visit.params;
    const plan = await visit.read(getPlan, { params: { id } });
    return visit.reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="plan-${id}.json"`)
      .serializer((body: unknown) => body as string)
      .send(`${JSON.stringify(plan, null, 2)}\n`);
  });
}
