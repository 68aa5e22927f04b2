import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { confirmPoolDeletion, showNewPool, showPool, submitNewPool, submitPool, submitPoolDeletion } from './pools.ts';
import { confirmDraining, showWorker, submitDraining } from './worker.ts';
import { showWorkers } from './workers.ts';

/** Adds the pages of workers and of their pools. */
export function registerWorkerPages(addPage: AddPage): void {
  addPage('GET', pages.workers, showWorkers);
  addPage('GET', pages.worker, showWorker);
  addPage('GET', pages.drainWorker, confirmDraining);
  addPage('POST', pages.drainWorker, submitDraining);
  addPage('GET', pages.newWorkerPool, showNewPool);
  addPage('POST', pages.newWorkerPool, submitNewPool);
  addPage('GET', pages.workerPool, showPool);
  addPage('POST', pages.workerPool, submitPool);
  addPage('GET', pages.deleteWorkerPool, confirmPoolDeletion);
  addPage('POST', pages.deleteWorkerPool, submitPoolDeletion);
}
