import { type PagePattern, pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { assemblyPages } from './assembly-pages.ts';
import { catalogPages } from './catalog-pages.ts';
import { channelPages } from './channel-pages.ts';
import { connectionPages } from './connection-pages.ts';
import type { DeclaredPage } from './declared-page.ts';
import { driftPages } from './drift-pages.ts';
import { notificationPages } from './notification-pages.ts';
import { administrationPages, ownPages } from './people-pages.ts';
import { pluginPages } from './plugin-pages.ts';
import { quotaPages } from './quota-pages.ts';
import { signingKeyPages } from './signing-key-pages.ts';
import { environmentPages, organizationPages } from './tenancy-pages.ts';
import { undoPages } from './undo-pages.ts';
import { variableSetPages } from './variable-set-pages.ts';
import { instancePages, runPages, workerPages } from './work-pages.ts';

/** What answers with something else than a page, such as a stream, a file or another address. */
export const notLookedAt: readonly PagePattern[] = [
  pages.runStream,
  pages.runChanges,
  pages.runLog,
  pages.runDebugLog,
  pages.runLogLine,
  pages.runLogLines,
  pages.runLogMatches,
  pages.runLogStream,
  pages.runLogText,
  pages.runPlanFile,
  pages.reviewRun,
  pages.approvalStream,
  pages.approvalCount,
  pages.assemblyRunByID,
  pages.assemblyRunChanges,
  pages.driftMonitorChanges,
  pages.scheduleChanges,
];

/** Every page of the service in its states. */
export function declareAll(installation: Installation): DeclaredPage[] {
  return [
    ...ownPages(installation),
    ...runPages(installation),
    ...undoPages(installation),
    ...instancePages(installation),
    ...workerPages(installation),
    ...catalogPages(installation),
    ...assemblyPages(installation),
    ...driftPages(installation),
    ...installation.shownByAreas.pages,
    ...environmentPages(installation),
    ...variableSetPages(installation),
    ...organizationPages(installation),
    ...administrationPages(installation),
    ...quotaPages(installation),
    ...signingKeyPages(),
    ...connectionPages(installation),
    ...notificationPages(installation),
    ...channelPages(installation),
    ...pluginPages(installation),
  ];
}
