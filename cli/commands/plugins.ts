import type { PluginNode } from '../../kernel/index.ts'
import { treeRows } from '../../plugins/shared/terminal/tree.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { printTable } from '../columns.ts'
import { onOff, ownCommand } from '../run/own-command.ts'
import { quietly } from '../run/standard-output.ts'

export const plugins = ownCommand({
  details: `Boots the application without listening, and closes it again. It shows how many milliseconds the setup and the
ready, drain and close hooks take, and the names of the options. --json also has their values, without secrets.`,
  flags: {
    ...applicationFlags,
    boot: onOff('Does not boot: shows the tree as declared, without times', { default: true }),
    close: onOff('Closes the application before printing, to show the drain and close times as well'),
    json: onOff('Prints JSON'),
  },
  async run({ flags, print, note, boot }) {
    const { server } = await applicationOf(flags)
    if (flags.boot) {
      await boot(server)
      if (flags.close) await quietly(() => server.close())
    } else note('Not booted: registrations that plugins make in their setup are not included.')
    const tree = flags.boot ? server.plugins : withoutTimes(server.plugins)
    if (flags.json) print(JSON.stringify(tree, undefined, 2))
    else printTable(treeRows(tree), print)
  },
})

/** A node without times, which mean nothing before boot. */
const withoutTimes = (node: PluginNode): PluginNode => ({
  ...node,
  ms: { boot: 0, ready: 0, drain: 0, close: 0 },
  children: node.children.map(withoutTimes),
})
