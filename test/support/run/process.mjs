import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { failed, passed } from './summary.mjs'

/**
 * @typedef {object} StepContext
 * @property {string} root
 * @property {string} scratch A folder that is removed when the run ends.
 * @property {number} deadline
 * @property {string[]} missingRuntimes
 * @property {(text: string) => void} print Keeps output for the end of the step.
 *
 * @typedef {object} RunOptions
 * @property {string} cwd
 * @property {number} deadline When the child and everything it started is ended, in epoch milliseconds.
 * @property {boolean} [show] Passes the output through instead of collecting it.
 * @property {Record<string, string>} [env]
 *
 * @typedef {{ code: number, output: string, timedOut: boolean }} RunResult
 */

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()

/**
 * Runs a program without stdin and in a process group of its own, so that its children end with it.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} options
 * @returns {Promise<RunResult>}
 */
export function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: childEnvironment(options.env),
      stdio: ['ignore', options.show ? 'inherit' : 'pipe', options.show ? 'inherit' : 'pipe'],
      detached: true,
    })
    running.add(child)
    let output = ''
    let timedOut = false
    const collect = (/** @type {Buffer} */ chunk) => {
      output += chunk
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    const timer = setTimeout(
      () => {
        timedOut = true
        stop(child, 'SIGTERM')
        setTimeout(() => stop(child, 'SIGKILL'), 3_000).unref()
      },
      Math.max(1_000, options.deadline - Date.now()),
    )
    let settled = false
    const settle = (/** @type {number} */ code) => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      running.delete(child)
      // What a test has started and forgotten would otherwise keep this process waiting for its pipes.
      stop(child, 'SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve({
        code: timedOut ? 1 : code,
        output: timedOut ? `${output}\n(stopped: it took too long)` : output,
        timedOut,
      })
    }
    child.once('error', (error) => {
      output += error.message
      settle(127)
    })
    child.once('close', (code) => settle(code ?? 1))
    // A grandchild that outlives its parent keeps the pipes open, and 'close' would never come.
    child.once('exit', (code) => setTimeout(settle, 2_000, code ?? 1).unref())
  })
}

/** Ends whatever still runs, for the signals that end this process. */
export function stopAll() {
  for (const child of running) stop(child, 'SIGKILL')
}

/** @param {import('node:child_process').ChildProcess} child @param {NodeJS.Signals} signal */
function stop(child, signal) {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // It has ended already.
  }
}

/**
 * `npm test` describes itself in its environment; a second npm in another folder, and the programs under test, must
 * not take that for their own.
 *
 * @param {Record<string, string>} [extra]
 */
export function childEnvironment(extra) {
  const env = { ...process.env, ...extra }
  for (const name of Object.keys(env)) {
    if (/^npm_(package|lifecycle)_|^npm_config_local_prefix$|^npm_command$|^INIT_CWD$/i.test(name)) delete env[name]
  }
  return env
}

/**
 * The npm that started this run, or the one on the path.
 *
 * @param {string[]} args
 * @param {RunOptions} options
 */
export function npm(args, options) {
  const cli = process.env.npm_execpath
  return cli?.endsWith('.js') ? run(process.execPath, [cli, ...args], options) : run('npm', args, options)
}

/**
 * Runs a local tool and turns its exit code into an outcome; its output is shown only when it fails.
 *
 * @param {StepContext} context
 * @param {string} script Path of the tool's script below node_modules.
 * @param {string[]} args
 * @param {number} [limit]
 * @param {Record<string, string>} [env]
 */
export async function tool({ root, deadline, print }, script, args, limit = 180_000, env = {}) {
  const result = await run(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    env,
    deadline: Math.min(deadline, Date.now() + limit),
  })
  if (result.code === 0) return passed()
  print(result.output.trimEnd())
  return failed(result.timedOut ? 'took too long' : `exit code ${result.code}`)
}

/**
 * Checks the types of a project. Files that are as in the last run, and read nothing that has changed, were checked by then: what the compiler
 * knows of them is kept until the packages are installed anew.
 *
 * @param {StepContext} context
 * @param {string} project
 */
export async function tsc(context, project) {
  const known = join(context.root, 'node_modules/.cache', `${project}.tsbuildinfo`)
  // Beside the tests, one thread: more of them take up to half as much processor time more, and so does collecting what is hardly ever garbage.
  const withoutCollections = { GOGC: 'off', GOMEMLIMIT: '3GiB' }
  const args = ['-p', project, '--singleThreaded', '--incremental', '--tsBuildInfoFile', known]
  return tool(context, 'typescript/bin/tsc', args, undefined, withoutCollections)
}
