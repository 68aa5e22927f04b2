import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showAttempt } from './attempt-page.ts';
import { registerUndoForms } from './forms.ts';

/** Adds the pages by which people undo what a run changed. */
export function registerUndoPages(addPage: AddPage): void {
  addPage('GET', pages.selectiveUndo, showAttempt);
  registerUndoForms(addPage);
}
