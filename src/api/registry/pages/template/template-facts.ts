import type { Html } from '#api/web/html.ts';
import type { ListedRun, ListedVersion, ShownTemplate, ShownVersion } from '../views.ts';

/** The content of a template's page. */
export interface TemplatePage {
  readonly template: ShownTemplate;
  /** The environment to deploy in, which the address names. */
  readonly environmentId: string | undefined;
  readonly versions: readonly ListedVersion[];
  readonly nextVersions: string | null;
  readonly isFirstPage: boolean;
  readonly latest: ShownVersion | null;
  readonly runs: readonly ListedRun[];
  readonly owner: string;
  readonly nameEnvironment: (id: string | null) => string;
  readonly confirmation: Html | null;
}
