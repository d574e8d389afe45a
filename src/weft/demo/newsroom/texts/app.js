"use strict";

// Builds the pages of this section from what the server says about them.

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function link(path, label) {
  return element("a", { href: path }, label);
}

function bullets(entries, kind) {
  return element("ul", { class: kind }, ...entries.map((entry) => element("li", {}, entry)));
}

function header(data) {
  const menu = data.menu.map(([path, label]) => link(path, label));
  const logo = element("a", { class: "logo", href: "/" }, data.paper);
  return element("header", {}, logo, bullets(menu, "menu"));
}

function teaser(story) {
  return element(
    "div", { class: "teaser" },
    element("h2", {}, link(story.path, story.title)),
    element("p", { class: "meta" }, story.day),
    element("p", {}, story.description));
}

function list(data) {
  document.title = `${data.section} - ${data.paper}`;
  return [element("main", {}, element("h1", {}, data.section), ...data.stories.map(teaser))];
}

function article(data) {
  document.title = `${data.title} - ${data.paper}`;
  document.head.append(
    element("link", { rel: "canonical", href: data.canonical }),
    element("meta", { name: "keywords", content: data.tags.join(", ") }),
    element("meta", { property: "og:type", content: "article" }));
  const time = element("time", { datetime: data.published }, data.day);
  const byline = element("span", { class: "author" }, data.authors.join(" and "));
  const text = data.paragraphs.map((paragraph) => element("p", {}, paragraph));
  const related = data.related.map((story) => link(story.path, story.title));
  return [
    element(
      "main", {},
      element(
        "article", {},
        element("h1", {}, data.title),
        element("p", { class: "meta" }, "By ", byline, ", ", time),
        ...text)),
    element("aside", {}, element("h3", {}, data.relatedTitle), bullets(related, "related"))];
}

async function start() {
  const [, section, name] = location.pathname.split("/");
  const reply = await fetch(`/${section}/api/${name || "list"}.json`);
  const data = await reply.json();
  const parts = name ? article(data) : list(data);
  document.getElementById("app").append(header(data), element("div", { class: "columns" }, ...parts));
}

start();
