"""What a page is asked in the browser: is everything on the screen, large enough, and uncut?"""

SMALL = """min => [...document.querySelectorAll('button, a, label')]
  .filter(node => node.offsetParent && !node.classList.contains('scrim'))
  .map(node => [node, node.getBoundingClientRect()])
  .filter(([, box]) => Math.round(box.width) < min || Math.round(box.height) < min)
  .map(([node, box]) => `${node.className || node.textContent.trim()} ${box.width}x${box.height}`)"""
OUTSIDE = """() => [...document.querySelectorAll('button, a, label')]
  .filter(node => node.offsetParent && !node.classList.contains('scrim'))
  .map(node => [node, node.getBoundingClientRect()])
  .filter(([, b]) => b.left < -1 || b.top < -1 || b.right > innerWidth + 1 || b.bottom > innerHeight + 1)
  .map(([node]) => node.className || node.textContent.trim())"""
CUT = """() => [...document.querySelectorAll('.panel, .sheet, .act, .top, .strip header, .table, .box')]
  .filter(node => node.getClientRects().length)
  .filter(node => node.scrollHeight > node.clientHeight + 2 || node.scrollWidth > node.clientWidth + 2)
  .map(node => node.className || node.tagName)"""
SCROLLS = """() => document.documentElement.scrollHeight > innerHeight
  || document.documentElement.scrollWidth > innerWidth"""
