import { htmlPage, linkedStyle, skipLink } from '../../shared/pages/shell.ts'

/** Returns the page. Its links are relative, since its path may have a prefix; `base` is the last part of the path. */
export const pageHtml = (base: string): string =>
  htmlPage({
    title: 'Inspector',
    head: linkedStyle(`${base}/page.css`),
    body: `${skipLink}
<header>
<h1><a href="#/request">Inspector</a></h1>
<span id="where" class="dim"></span>
<span id="live" role="status" class="dim">connecting</span>
<button id="clear" type="button">Clear</button>
</header>
<nav aria-label="What is shown"><ul id="nav"></ul></nav>
<main id="main" tabindex="-1"><noscript>This page needs JavaScript.</noscript></main>
<div id="notice" role="alert"></div>
<script src="${base}/page.js" data-base="${base}/"></script>`,
  })
