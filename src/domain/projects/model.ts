import type { NewNamed, Renaming } from '#domain/tenancy/model.ts';

export interface NewProject extends NewNamed {
  readonly description: string;
}

export interface ProjectChange extends Renaming {
  readonly description?: string | undefined;
}
