import type { Area } from '#api/web/area-declaration.ts';
import { registerHelp } from './pages.ts';

export const area: Area = {
  pages: [registerHelp],
};
