import { page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import { getPlan } from '../../approvals/approval-operations.ts';

/** The download of a run's whole plan. */
export const planFilePage = page('GET', pages.runPlanFile, async (visit) => {
  const { id } = visit.params;
  const plan = await visit.read(getPlan, { params: { id } });
  return visit.reply
    .type('application/json; charset=utf-8')
    .header('content-disposition', `attachment; filename="plan-${id}.json"`)
    .serializer((body: unknown) => body as string)
    .send(`${JSON.stringify(plan, null, 2)}\n`);
});
