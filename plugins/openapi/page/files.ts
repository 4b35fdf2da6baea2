/** Follows the system's colour scheme, and reports errors if the page cannot be shown. */
export const pageScript = String.raw`'use strict'
{
  const { from, path } = document.currentScript.dataset
  const node = document.getElementById('page')
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', paint)
  paint()

  // swagger-ui lets the browser parse HTML of a description before it removes the dangerous parts. Nothing runs there, but
  // Chromium reports every event handler in it as blocked by the policy, so this removes them before.
  const attribute = /[^\s"'/>=][^\s/>=]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?/g
  const startTag = new RegExp('<[a-z][^\\s/>]*(?:[\\s/]+|' + attribute.source + ')*', 'gi')
  const withoutHandler = (text) => (/^on/i.test(text) ? '' : text)
  const { parseFromString } = DOMParser.prototype
  DOMParser.prototype.parseFromString = function (text, type) {
    const quiet = String(text).replace(startTag, (tag) => tag.replace(attribute, withoutHandler))
    return parseFromString.call(this, quiet, type)
  }

  const link = (name) => new URL(from + name, location.href).href
  const load = async () => {
    const res = await fetch(link('json'), { credentials: 'same-origin' })
    if (!res.ok) throw new Error(res.status + ' ' + res.statusText)
    const spec = await res.json()
    // A proxy may have removed a prefix that the server does not know.
    const prefix = location.pathname.endsWith(path) ? location.pathname.slice(0, -path.length) : ''
    if (spec.servers === undefined && prefix !== '') spec.servers = [{ url: prefix }]
    SwaggerUIBundle({
      spec,
      domNode: node,
      deepLinking: true,
      displayRequestDuration: true,
      filter: Object.keys(spec.paths).length > 20,
      layout: 'BaseLayout',
      oauth2RedirectUrl: link('ui/oauth2-redirect.html'),
      presets: [SwaggerUIBundle.presets.apis],
      showMutatedRequest: false,
      validatorUrl: null,
    })
    const links = document.createElement('p')
    links.className = 'page-links'
    for (const name of ['json', 'yaml']) {
      const anchor = document.createElement('a')
      anchor.href = link(name)
      anchor.textContent = name.toUpperCase()
      links.append(anchor)
    }
    node.before(links)
  }
  load().catch((error) => {
    const text = document.createElement('p')
    text.className = 'page-error'
    text.setAttribute('role', 'alert')
    text.textContent = 'The description cannot be loaded: ' + error.message
    node.replaceChildren(text)
  })
}
`

export const pageStyle = `html { box-sizing: border-box; overflow-y: scroll; background: #fff; color: #3b4151 }
*, *::before, *::after { box-sizing: inherit }
body { margin: 0 }
.page-links { display: flex; gap: 1rem; justify-content: flex-end; max-width: 1460px; margin: 0 auto; padding: 1rem 20px }
.page-links a { color: #2a5db0; font: 600 14px sans-serif }
.page-error { margin: 3rem auto; max-width: 40rem; font: 16px sans-serif }
.swagger-ui .info { margin: 0 0 1.5rem }
.swagger-ui .info .title { font-size: 2rem }
.swagger-ui .scheme-container { margin: 0 0 1rem; padding: 0 0 1.5rem; box-shadow: none }
@media (max-width: 45rem) { .swagger-ui .response-col_links { display: none } }
html:not(.dark-mode) .swagger-ui .info .title small { background: #5c6370 }
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: #4d7a00 }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: #177245; color: #177245 }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: #177245 }
html:not(.dark-mode) .swagger-ui .opblock-get .opblock-summary-method { background: #1c66b8 }
html:not(.dark-mode) .swagger-ui .opblock-post .opblock-summary-method { background: #177245 }
html:not(.dark-mode) .swagger-ui .opblock-put .opblock-summary-method { background: #a35200 }
html:not(.dark-mode) .swagger-ui .opblock-patch .opblock-summary-method { background: #0b7468 }
html:not(.dark-mode) .swagger-ui .opblock-delete .opblock-summary-method { background: #c22b2b }
html:not(.dark-mode) .swagger-ui .opblock-head .opblock-summary-method { background: #7c1fd1 }
html:not(.dark-mode) .swagger-ui .opblock-options .opblock-summary-method { background: #0d5aa7 }
html.dark-mode { background: #1c2022; color: #e4e6e6 }
html.dark-mode .swagger-ui table.headers td { color: inherit }
html.dark-mode .page-links a { color: #8fb8ff }
`
