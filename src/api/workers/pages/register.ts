import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerPoolForms } from './pool-forms.ts';
import { showPool, submitPool } from './pools.ts';
import { registerWorker } from './worker.ts';
import { showWorkers } from './workers.ts';

/** Adds the pages of workers and of their pools. */
export function registerWorkerPages(addPage: AddPage): void {
  addPage('GET', pages.workers, showWorkers);
  registerWorker(addPage);
  registerPoolForms(addPage);
  addPage('GET', pages.workerPool, showPool);
  addPage('POST', pages.workerPool, submitPool);
}
