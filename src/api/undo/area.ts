import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as undo from './operations.ts';
import { showAttempt } from './pages/attempt-page.ts';
import { undoForms } from './pages/forms.ts';

export const area: Area = {
  operations: [undo],
  tags: {
    selective_undo: 'Undoing what one run changed, and keeping what later runs changed.',
  },
  pages: [page('GET', pages.selectiveUndo, showAttempt), ...undoForms],
};
