/** Differences that are known: by the end of a configuration's name, why the service does something else than the bare tool. */
export const explained: Readonly<Record<string, string>> = {
  '/backend-unset':
    'the directory holds a record of another backend from an earlier init, which is not part of a version',
  '/required-version-fails':
    'the service refuses the run at admission, by required_version of .tf files also for OpenTofu 1.12, which ignores it there',
  '/tofu-state-encryption':
    'plans are shown in a sandbox without the files of the template, which cannot decrypt a plan that the template encrypts',
};
