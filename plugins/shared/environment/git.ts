import { spawnSync } from 'node:child_process'

/** Variables that git sets for its hooks: they name its repository, so that another folder would be the work tree. */
const ofHooks = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|OBJECT_DIRECTORY)$/

/**
 * The parts of git's output with `-z`, and its exit code; or why it failed: it is not installed, or the folder is not in a repository
 * that it trusts.
 */
export function git(
  args: readonly string[],
  { folder, input }: { readonly folder?: string; readonly input?: string } = {},
): { readonly lines: readonly string[]; readonly status: number | null; readonly failure?: string } {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofHooks.test(name)))
  const options = { cwd: folder, env, input, encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY } as const
  const { status, stdout, stderr, error } = spawnSync('git', args, options)
  if (status === 0) return { lines: stdout.split('\0').filter((line) => line !== ''), status }
  return { lines: [], status, failure: error === undefined ? stderr.trim() : 'git cannot be started' }
}
