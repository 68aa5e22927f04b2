import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import { registerPeopleStep } from './pages/people-step.ts';
import { registerPlaceSteps } from './pages/place-steps.ts';
import { showSetup } from './pages/steps-view.ts';
import { registerTemplateStep } from './pages/template-step.ts';

export const area: Area = {
  pages: [page('GET', pages.setUpTeam, showSetup), registerPeopleStep, registerPlaceSteps, registerTemplateStep],
};
