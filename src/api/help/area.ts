import type { Area } from '#api/web/declarations/area.ts';
import { registerHelp } from './pages.ts';

export const area: Area = {
  pages: [registerHelp],
};
