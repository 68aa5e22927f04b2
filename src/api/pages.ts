import type { FastifyInstance } from 'fastify';
import { countUnreadForBar } from '#api/notifications/pages/unread-count.ts';
import { countApprovals } from '#api/runs/pages/approval-count.ts';
import { findNamed } from '#api/search/pages.ts';
import { registerAssets } from '#api/web/assets.ts';
import { toGroups } from '#api/web/frame/navigation.ts';
import type { BarCounts } from '#api/web/frame/read-frame.ts';
import type { PageServices } from '#api/web/visit/operations.ts';
import { pageAdder } from '#api/web/visit/route.ts';
import { leadToPage } from '#api/web/visit/trailing-slash.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { areas } from './areas.ts';

/** The main navigation, with the entries of all areas. */
export const navigation = toGroups(areas.flatMap((area) => area.navigation ?? []));

/** Registers all pages of the service, and the files that they use. */
export async function registerPages(app: FastifyInstance, context: PageServices): Promise<void> {
  await registerAssets(app);
  app.addHook('onRequest', leadToPage);
  const addPage = pageAdder(app, { ...context, navigation, countForBar, findNamed });
  for (const add of areas.flatMap((area) => area.pages ?? [])) add(addPage);
}

/** Counts the numbers in the bar above every page. */
async function countForBar(visit: Visit): Promise<BarCounts> {
  const [approvals, unread] = await Promise.all([countApprovals(visit), countUnreadForBar(visit)]);
  return { approvals, unread };
}
