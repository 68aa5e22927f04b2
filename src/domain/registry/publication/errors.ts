import { Conflict } from '#domain/shared/errors.ts';

export class VersionPublished extends Conflict {
  constructor(version: string) {
    super(
      `version ${version} is already published with other content and never changes: publish a higher version`,
      'version_published',
    );
  }
}
