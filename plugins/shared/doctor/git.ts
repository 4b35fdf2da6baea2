import { spawnSync } from 'node:child_process'

/** Variables that git sets for its hooks: with them, the top of the work tree would be another folder. */
const ofHooks = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_PREFIX']

/**
 * The parts of git's output with `-z`; or why there is none, if git is not installed or the folder is not in a repository that it trusts.
 */
export function git(
  args: readonly string[],
  { folder, input }: { readonly folder?: string; readonly input?: string } = {},
): { readonly lines: readonly string[]; readonly failure?: string } {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofHooks.includes(name)))
  const options = { cwd: folder, env, input, encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY } as const
  const { status, stdout, stderr, error } = spawnSync('git', args, options)
  if (status === 0) return { lines: stdout.split('\0').filter((line) => line !== '') }
  return { lines: [], failure: error?.message ?? stderr.trim().split('\n')[0]! }
}
