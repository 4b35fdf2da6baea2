import { definePlugin } from 'framework'

class Audit {
  entries = 0
}
class Journal {
  lines = 0
}
declare module 'framework' {
  interface Services {
    audit: Audit
  }
}

definePlugin({
  name: 'expression',
  provide: () => ({ audit: new Journal() }),
  //! Type '() => { audit: Journal; }' is not assignable to type '(settings: undefined) => { readonly audit: Audit; }'
})

definePlugin({
  name: 'block',
  provide() {
    //! is not assignable to type '(settings: undefined) => { readonly audit: Audit; readonly more: number; }'
    return { audit: new Journal(), more: 1 }
  },
})

definePlugin({
  name: 'later',
  provide: async () => ({ audit: new Audit() }),
  //! "services must exist as soon as the plugin is registered: create what takes time in setup, and pass it to ctx.provide"
})

definePlugin({
  name: 'boot',
  setup(ctx) {
    ctx.provide('audit', new Journal())
    //! Property 'entries' is missing in type 'Journal' but required in type 'Audit'
    ctx.provide('adit', new Audit())
    //! Argument of type '"adit"' is not assignable to parameter of type
    ctx.services.get('adit')
    //! Argument of type '"adit"' is not assignable to parameter of type
  },
})

definePlugin({
  name: 'misspelt',
  setupp() {},
  //! Did you mean to write 'setup'?
})
