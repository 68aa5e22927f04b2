import type { Area } from '#api/web/declarations/area.ts';
import * as undo from './operations.ts';
import { registerUndoPages } from './pages/register.ts';

export const area: Area = {
  operations: [undo],
  tags: {
    selective_undo: 'Undoing what one run changed, and keeping what later runs changed.',
  },
  pages: [registerUndoPages],
};
