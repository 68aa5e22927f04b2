import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import { peopleStep } from './pages/people-step.ts';
import { placeSteps } from './pages/place-steps.ts';
import { showSetup } from './pages/steps-view.ts';
import { templateStep } from './pages/template-step.ts';

export const area: Area = {
  pages: [page('GET', pages.setUpTeam, showSetup), peopleStep, ...placeSteps, templateStep],
};
