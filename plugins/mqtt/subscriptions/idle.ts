import type { Kernel } from '../../../kernel/index.ts'
import { importedSubscriptions, shownSubscription } from '../mqtt.ts'
import { declarations } from './declarations.ts'

const remedy = 'register the plugin "mqtt" (background: { mqtt: { connect: { … } } }), or call MqttService.connect()'

/** Reports classes that no service handles, when a server boots and the process has neither a server with the plugin nor a connection. */
export function reportIdleSubscriptions(server: Kernel): void {
  if (declarations.expected.size > 0) return
  importedSubscriptions.report(
    server.logger,
    (method) => `${shownSubscription(method)} was imported, but nothing in this process handles it: ${remedy}`,
  )
}
