import { Conflict } from '#domain/shared/errors.ts';

export class TemplateArchived extends Conflict {
  constructor() {
    super('the template is archived: unarchive it first');
  }
}

export class VersionPublished extends Conflict {
  constructor(version: string) {
    super(`version ${version} is published with another content and never changes: raise the version`);
  }
}
