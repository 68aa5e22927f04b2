import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showAssembly } from './assembly/overview.ts';
import { showVersion } from './assembly/version-page.ts';
import { showDraft, submitDraft } from './draft/draft-page.ts';
import { showPublish, submitPublish } from './draft/publish-page.ts';
import { registerAssemblyForms } from './forms.ts';
import { showAssemblies } from './list-page.ts';
import { streamAssemblyRunChanges } from './run/run-changes.ts';
import { registerAssemblyRunForms } from './run/run-forms.ts';
import { redirectToAssemblyRun, showAssemblyRun } from './run/run-page.ts';
import { showStart, submitStart } from './start/start-page.ts';

/** A draft of 1 MiB, in which each character may be written as three. */
const largestDraftForm = 4 * 1024 * 1024;

/** Adds the pages of assemblies, their drafts, versions and runs. */
export function registerAssemblyPages(addPage: AddPage): void {
  addPage('GET', pages.assemblies, showAssemblies);
  registerAssemblyForms(addPage);
  addPage('GET', pages.assembly, showAssembly);
  addPage('GET', pages.assemblyVersion, showVersion);
  addPage('GET', pages.assemblyDraft, showDraft);
  addPage('POST', pages.assemblyDraft, submitDraft, { bodyLimit: largestDraftForm });
  addPage('GET', pages.publishAssembly, showPublish);
  addPage('POST', pages.publishAssembly, submitPublish);
  addPage('GET', pages.runAssembly, showStart);
  addPage('POST', pages.runAssembly, submitStart);
  addPage('GET', pages.assemblyRun, showAssemblyRun);
  addPage('GET', pages.assemblyRunByID, redirectToAssemblyRun);
  addPage('GET', pages.assemblyRunChanges, streamAssemblyRunChanges);
  registerAssemblyRunForms(addPage);
}
