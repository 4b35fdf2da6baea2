import type { Kernel } from '../../kernel/index.ts'
import { isRunnerExpected } from './declarations.ts'
import { importedSubscriptions, shownSubscription } from './mqtt.ts'

const remedy = 'register the plugin "mqtt" (background: { mqtt: { connect: { … } } }), or call MqttService.connect()'

/** Reports the classes that nothing handles when a server has booted: no server of this process has the plugin, and there is no connection. */
export function reportIdleSubscriptions(server: Kernel): void {
  if (isRunnerExpected()) return
  importedSubscriptions.report(
    server.logger,
    (method) => `${shownSubscription(method)} was imported, and nothing in this process handles it: ${remedy}`,
  )
}
