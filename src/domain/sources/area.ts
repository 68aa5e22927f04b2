export const errorCodes = {
  source_unreadable: 'Git cannot read the repository.',
  source_credential_unfit: 'The credentials do not open the repository.',
  source_ref_missing: 'The repository has no such branch, tag or commit.',
  source_ref_ambiguous: 'The name is both a branch and a tag.',
  source_path_missing: 'The repository has no template at this path.',
  source_file_unusable: 'A template cannot use a file of the repository.',
  source_too_large: 'The repository or the template is too large.',
} as const;
