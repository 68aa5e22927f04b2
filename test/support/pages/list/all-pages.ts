import type { FastifyInstance } from 'fastify';
import { type PagePattern, pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { catalogPages } from './catalog-pages.ts';
import type { DeclaredPage } from './declared-page.ts';
import { administrationPages, ownPages } from './people-pages.ts';
import { environmentPages, organizationPages } from './tenancy-pages.ts';
import { instancePages, runPages, workerPages } from './work-pages.ts';

/** The pages that answer with something else than a page, such as a stream, a file or another address. */
export const notLookedAt: readonly PagePattern[] = [
  pages.runStream,
  pages.runChanges,
  pages.runLog,
  pages.runLogLine,
  pages.runLogLines,
  pages.runLogMatches,
  pages.runLogStream,
  pages.runLogText,
  pages.runPlanFile,
  pages.reviewRun,
  pages.approvalStream,
  pages.approvalCount,
];

/** Every page of the service in its states. A page that the service does not have is left out. */
export function declareAll(app: FastifyInstance, installation: Installation): DeclaredPage[] {
  const declared = [
    ...ownPages(installation),
    ...runPages(installation),
    ...instancePages(installation),
    ...workerPages(installation),
    ...catalogPages(installation),
    ...environmentPages(installation),
    ...organizationPages(installation),
    ...administrationPages(installation),
  ];
  return declared.filter(({ pattern }) => hasPage(app, pattern));
}

export function hasPage(app: FastifyInstance, pattern: PagePattern): boolean {
  return app.hasRoute({ method: 'GET', url: pattern });
}
